/* SPDX-License-Identifier: BSD-3-Clause */
#include "search_check.h"

#include <stdio.h>
#include <string.h>

/* LENGTH characters, two bits each; the lower bit of each in `unknown` says that it is none. */
typedef struct {
    uint64_t bases;
    uint64_t unknown;
} Window;

static const uint64_t lower_bits = 0x5555555555555555u >> (64 - 2 * LENGTH);

/* Moves it on by a character. */
static Window next_window(Window window, char base)
{
    const int code = base_code(base);
    const uint64_t all = lower_bits | lower_bits << 1;
    window.bases = (window.bases << 2 | (uint64_t)(code & 3)) & all;
    window.unknown = (window.unknown << 2 | (uint64_t)(code < 0)) & all;
    return window;
}

/* Whether at most that many characters differ; `different` has a bit for each that does. */
static bool is_match(uint64_t different, int most)
{
    for (int i = 0; i < most; ++i) {
        different &= different - 1;
    }
    return different == 0;
}

static int count_bits(uint64_t bits)
{
    int count = 0;
    for (; bits != 0; bits &= bits - 1) {
        ++count;
    }
    return count;
}

static void plain_strand(const Input *input, const char *query, int reverse, int most,
                         Answer *answer)
{
    Window wanted = {0};
    Window there = {0};
    for (int i = 0; i < LENGTH; ++i) {
        wanted = next_window(wanted, query[i]);
    }
    for (int end = 0; end < input->length; ++end) {
        there = next_window(there, input->genome[end]);
        const uint64_t bits = wanted.bases ^ there.bases;
        const uint64_t different =
            ((bits | bits >> 1) & lower_bits) | wanted.unknown | there.unknown;
        if (end >= LENGTH - 1 && is_match(different, most)) {
            const Match match = {end - (LENGTH - 1), reverse, count_bits(different)};
            answer_add(answer, &match);
        }
    }
}

Answer plain_search(const Input *input, const char *query, int mismatches)
{
    Answer answer = answer_empty();
    char reversed[LENGTH];
    plain_strand(input, query, 0, mismatches, &answer);
    reverse_complement(query, reversed);
    plain_strand(input, reversed, 1, mismatches, &answer);
    return answer;
}

bool answers_agree(const Input *input, const Answer *answers, int mismatches)
{
    for (int i = 0; i < input->count; ++i) {
        const char *const query = input->queries + (size_t)i * LENGTH;
        const Answer plain = plain_search(input, query, mismatches);
        if (memcmp(&plain, &answers[i], sizeof plain) != 0) {
            fprintf(stderr,
                    "search: query %d, %.*s: %d matches, the best at %d; plain search finds %d, "
                    "the best at %d\n",
                    i, LENGTH, query, answers[i].found, answers[i].best[0].position, plain.found,
                    plain.best[0].position);
            return false;
        }
    }
    return true;
}

uint64_t answers_digest(const Answer *answers, int count)
{
    uint64_t digest = 0xcbf29ce484222325u;
    const unsigned char *const bytes = (const unsigned char *)answers;
    for (size_t i = 0; i < (size_t)count * sizeof *answers; ++i) {
        digest = (digest ^ bytes[i]) * 0x100000001b3u;
    }
    return digest;
}
