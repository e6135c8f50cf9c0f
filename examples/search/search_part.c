/* SPDX-License-Identifier: BSD-3-Clause */
#include "search_part.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

int base_code(char base)
{
    static const signed char codes[256] = {['A'] = 1, ['C'] = 2, ['G'] = 3, ['T'] = 4};
    return codes[(unsigned char)base] - 1;
}

void reverse_complement(const char *query, char *reversed)
{
    for (int i = 0; i < LENGTH; ++i) {
        const int code = base_code(query[LENGTH - 1 - i]);
        reversed[i] = code < 0 ? 'N' : "TGCA"[code];
    }
}

/* The SEED characters as a number; -1 where one of them is no base. */
static int seed_word(const char *text)
{
    int word = 0;
    for (int i = 0; i < SEED; ++i) {
        const int code = base_code(text[i]);
        if (code < 0) {
            return -1;
        }
        word = word << 2 | code;
    }
    return word;
}

static const char *part_text(const Part *part) { return (const char *)&part->places[part->bases]; }

Part part_outline(int length, int number, int parts)
{
    const int first = (int)((long)length * number / parts);
    const int next = (int)((long)length * (number + 1) / parts);
    const int end = next + LENGTH - 1 < length ? next + LENGTH - 1 : length;
    Part part = {.first = first, .starts = next - first, .bases = end - first};
    return part;
}

size_t part_bytes(const Part *outline)
{
    const size_t bases = (size_t)outline->bases;
    const size_t text = (bases + sizeof(int) - 1) / sizeof(int) * sizeof(int);
    return sizeof(Part) + bases * sizeof(int) + text;
}

/* Sorts the places by their seeds: counted first, then put in from the end of each bucket. */
static void build_index(Part *part, const char *text)
{
    int *const buckets = part->buckets;
    for (int place = 0; place + SEED <= part->bases; ++place) {
        const int word = seed_word(text + place);
        if (word >= 0) {
            ++buckets[word];
        }
    }
    for (int word = 1; word <= WORDS; ++word) {
        buckets[word] += buckets[word - 1];
    }
    for (int place = part->bases - SEED; place >= 0; --place) {
        const int word = seed_word(text + place);
        if (word >= 0) {
            part->places[--buckets[word]] = place;
        }
    }
}

void part_build(Part *part, const Part *outline, const char *genome, int mismatches)
{
    memset(part, 0, part_bytes(outline));
    part->first = outline->first;
    part->starts = outline->starts;
    part->bases = outline->bases;
    part->mismatches = mismatches;
    char *const text = (char *)&part->places[part->bases];
    memcpy(text, genome + part->first, (size_t)part->bases);
    build_index(part, text);
}

Answer answer_empty(void)
{
    Answer answer = {0};
    for (int i = 0; i < BEST; ++i) {
        answer.best[i].position = -1;
    }
    return answer;
}

static bool is_better(const Match *one, const Match *other)
{
    if (other->position < 0 || one->mismatches != other->mismatches) {
        return other->position < 0 || one->mismatches < other->mismatches;
    }
    if (one->position != other->position) {
        return one->position < other->position;
    }
    return one->reverse < other->reverse;
}

/* Puts it where it belongs among the best. */
static void keep_best(Answer *answer, const Match *match)
{
    Match moved = *match;
    for (int i = 0; i < BEST; ++i) {
        if (is_better(&moved, &answer->best[i])) {
            const Match worse = answer->best[i];
            answer->best[i] = moved;
            if (worse.position < 0) {
                return;
            }
            moved = worse;
        }
    }
}

void answer_add(Answer *answer, const Match *match)
{
    ++answer->found;
    keep_best(answer, match);
}

void answer_merge(Answer *answer, const Answer *other)
{
    answer->found += other->found;
    for (int i = 0; i < BEST && other->best[i].position >= 0; ++i) {
        keep_best(answer, &other->best[i]);
    }
}

static uint64_t load_eight(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

static uint64_t load_four(const char *text)
{
    uint32_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* The lowest bit of each byte that differs. */
static uint64_t different_bytes(uint64_t one, uint64_t other)
{
    uint64_t bits = one ^ other;
    bits |= bits >> 4;
    bits |= bits >> 2;
    bits |= bits >> 1;
    return bits & 0x0101010101010101u;
}

/* Eight characters at a time, without a branch: most places that a seed leads to are none. */
static int count_mismatches(const char *query, const char *text)
{
    const uint64_t sums = different_bytes(load_eight(query), load_eight(text)) +
                          different_bytes(load_eight(query + 8), load_eight(text + 8)) +
                          different_bytes(load_four(query + 16), load_four(text + 16));
    return (int)(sums * 0x0101010101010101u >> 56);
}

/* Whether a seed before that one is the same in the text: then the place was found by it. */
static bool found_before(const char *query, const char *text, int seed)
{
    for (int before = 0; before < seed; ++before) {
        const int at = before * SEED_DISTANCE;
        if (memcmp(query + at, text + at, SEED) == 0) {
            return true;
        }
    }
    return false;
}

/* Of a query with so many mismatches at least one seed more than these has none. */
static void search_strand(const Part *part, const char *query, int reverse, Answer *answer)
{
    const char *const text = part_text(part);
    for (int seed = 0; seed <= part->mismatches; ++seed) {
        const int at = seed * SEED_DISTANCE;
        const int word = seed_word(query + at);
        if (word < 0) {
            continue;
        }
        for (int i = part->buckets[word]; i < part->buckets[word + 1]; ++i) {
            const int start = part->places[i] - at;
            if (start < 0 || start >= part->starts || start + LENGTH > part->bases) {
                continue;
            }
            const int mismatches = count_mismatches(query, text + start);
            if (mismatches <= part->mismatches && !found_before(query, text + start, seed)) {
                const Match match = {part->first + start, reverse, mismatches};
                answer_add(answer, &match);
            }
        }
    }
}

void part_search(const Part *part, const char *query, Answer *answer)
{
    char reversed[LENGTH];
    *answer = answer_empty();
    search_strand(part, query, 0, answer);
    reverse_complement(query, reversed);
    search_strand(part, reversed, 1, answer);
}
