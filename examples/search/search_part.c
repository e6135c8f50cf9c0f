/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include "search_part.h"

#include <endian.h>
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

/* Characters, two bits each from the lowest on; the lower bit of each in `unknown` says that it is
 * none of the four. */
typedef struct {
    uint64_t bases;
    uint64_t unknown;
} Window;

enum { WORD_BASES = 32 };

static const uint64_t lower_bits = 0x5555555555555555u >> (64 - 2 * LENGTH);

static Window window_of(const char *text, int length)
{
    Window window = {0};
    for (int i = length - 1; i >= 0; --i) {
        const int code = base_code(text[i]);
        window.bases = window.bases << 2 | (uint64_t)(code & 3);
        window.unknown = window.unknown << 2 | (uint64_t)(code < 0);
    }
    return window;
}

/* The last pair of bits first. */
static uint64_t pairs_reversed(uint64_t bits)
{
    bits = (bits >> 2 & 0x3333333333333333u) | (bits & 0x3333333333333333u) << 2;
    bits = (bits >> 4 & 0x0f0f0f0f0f0f0f0fu) | (bits & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(bits) >> (64 - 2 * LENGTH);
}

/* That of the other strand: the complement of a base has the other bits. */
static Window window_reversed(const Window *query)
{
    return (Window){pairs_reversed(~query->bases), pairs_reversed(query->unknown)};
}

/* The text of a part: the same, WORD_BASES characters in a word, the lower bytes of each first. */
typedef struct {
    uint64_t *bases;
    uint64_t *unknown;
} Text;

/* A window's bits and more behind them, from any byte on. */
static uint64_t bits_at(const uint64_t *words, unsigned place)
{
    enum { BYTE_BASES = 4 };
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)words + place / BYTE_BASES, sizeof bits);
    return le64toh(bits) >> 2 * (place % BYTE_BASES);
}

/* One bit for each character that differs. */
static uint64_t differences(uint64_t one, uint64_t other)
{
    const uint64_t bits = one ^ other;
    return (bits | bits >> 1) & lower_bits;
}

/* SEED characters as a number; -1 where one of them is no base. */
static int seed_word(uint64_t bases, uint64_t unknown)
{
    return (unknown & (WORDS - 1)) != 0 ? -1 : (int)(bases & (WORDS - 1));
}

static int word_at(Text text, int place)
{
    return seed_word(bits_at(text.bases, (unsigned)place), bits_at(text.unknown, (unsigned)place));
}

/* With one more that is empty: a window may touch it. */
static size_t text_words(int bases) { return (size_t)bases / WORD_BASES + 2; }

static size_t text_bytes(int bases) { return 2 * text_words(bases) * sizeof(uint64_t); }

Part part_outline(int length, int number, int parts)
{
    const int first = (int)((long)length * number / parts);
    const int next = (int)((long)length * (number + 1) / parts);
    const int end = next + LENGTH - 1 < length ? next + LENGTH - 1 : length;
    Part part = {.first = first, .starts = next - first, .bases = end - first};
    return part;
}

static Text part_text(const Part *part)
{
    uint64_t *const words = (uint64_t *)part->contents;
    return (Text){words, words + text_words(part->bases)};
}

static const int *part_places(const Part *part)
{
    return (const int *)(part->contents + text_bytes(part->bases));
}

size_t part_bytes(const Part *outline)
{
    const size_t places = ((size_t)outline->bases + 1) / 2 * 2;
    return sizeof(Part) + text_bytes(outline->bases) + places * sizeof(int);
}

/* Sorts the places by their seeds: counted first, then put in from the end of each bucket. */
static void build_index(int *buckets, int *places, Text text, int bases)
{
    for (int place = 0; place + SEED <= bases; ++place) {
        const int word = word_at(text, place);
        if (word >= 0) {
            ++buckets[word];
        }
    }
    for (int word = 1; word <= WORDS; ++word) {
        buckets[word] += buckets[word - 1];
    }
    for (int place = bases - SEED; place >= 0; --place) {
        const int word = word_at(text, place);
        if (word >= 0) {
            places[--buckets[word]] = place;
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
    const Text text = part_text(part);
    for (int first = 0; first < part->bases; first += WORD_BASES) {
        const int left = part->bases - first;
        const Window window =
            window_of(genome + part->first + first, left < WORD_BASES ? left : WORD_BASES);
        text.bases[first / WORD_BASES] = htole64(window.bases);
        text.unknown[first / WORD_BASES] = htole64(window.unknown);
    }
    build_index(part->buckets, (int *)part_places(part), text, part->bases);
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

/* So many of them that there is no match: most places that a seed leads to are none. */
static bool too_many(uint64_t bits)
{
    for (int i = 0; i < MOST_MISMATCHES; ++i) {
        bits &= bits - 1;
    }
    return bits != 0;
}

static int count(uint64_t bits)
{
    int found = 0;
    for (; bits != 0; bits &= bits - 1) {
        ++found;
    }
    return found;
}

/* Whether a seed before that one is the same in the text: then the place was found by it. */
static bool found_before(uint64_t different, int seed)
{
    for (int before = 0; before < seed; ++before) {
        if ((different >> (2 * before * SEED_DISTANCE) & (WORDS - 1)) == 0) {
            return true;
        }
    }
    return false;
}

/* The places that a seed of a query leads to. */
typedef struct {
    const int *begin;
    const int *end;
} Places;

/* They are asked for at once, so that the processor fetches them meanwhile. */
static void find_places(const Part *part, const Window *query, Places *places)
{
    const int *const all = part_places(part);
    for (int seed = 0; seed <= part->mismatches; ++seed) {
        const int shift = 2 * seed * SEED_DISTANCE;
        const int word = seed_word(query->bases >> shift, query->unknown >> shift);
        places[seed] = word < 0
                           ? (Places){all, all}
                           : (Places){all + part->buckets[word], all + part->buckets[word + 1]};
        __builtin_prefetch(places[seed].begin);
    }
}

/* Of a query with so many mismatches at least one seed more than these has none. */
static void search_strand(const Part *part, const Window *query, const Places *places, int reverse,
                          Answer *answer)
{
    const Text text = part_text(part);
    const int last = part->bases - LENGTH < part->starts ? part->bases - LENGTH : part->starts - 1;
    for (int seed = 0; seed <= part->mismatches; ++seed) {
        for (const int *place = places[seed].begin; place != places[seed].end; ++place) {
            const int start = *place - seed * SEED_DISTANCE;
            if (start < 0 || start > last) {
                continue;
            }
            uint64_t different = differences(query->bases, bits_at(text.bases, (unsigned)start));
            if (too_many(different)) {
                continue;
            }
            different |= (query->unknown | bits_at(text.unknown, (unsigned)start)) & lower_bits;
            const int mismatches = count(different);
            if (mismatches <= part->mismatches && !found_before(different, seed)) {
                const Match match = {part->first + start, reverse, mismatches};
                answer_add(answer, &match);
            }
        }
    }
}

void part_search(const Part *part, const char *query, Answer *answer)
{
    const Window forward = window_of(query, LENGTH);
    const Window backward = window_reversed(&forward);
    Places forward_places[MOST_MISMATCHES + 1];
    Places backward_places[MOST_MISMATCHES + 1];
    find_places(part, &forward, forward_places);
    find_places(part, &backward, backward_places);
    *answer = answer_empty();
    search_strand(part, &forward, forward_places, 0, answer);
    search_strand(part, &backward, backward_places, 1, answer);
}
