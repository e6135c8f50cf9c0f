/* SPDX-License-Identifier: BSD-3-Clause */
#include "search_input.h"

#include "search_part.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_BASES = 1 << 26, LINE = 1 << 16 };

static bool complain(const char *path, const char *what)
{
    fprintf(stderr, "search: %s: %s\n", path, what);
    return false;
}

/* The line without its end; NULL at the end of the file. */
static char *next_line(gzFile file, char *line)
{
    if (gzgets(file, line, LINE) == NULL) {
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static bool read_genome(Input *input, const char *path)
{
    static char line[LINE];
    const gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        return complain(path, "cannot be read");
    }
    int room = 1 << 16;
    input->genome = malloc((size_t)room);
    while (next_line(file, line) != NULL && input->length < MOST_BASES) {
        if (line[0] == '>') {
            continue;
        }
        const int more = (int)strlen(line);
        while (input->length + more > room) {
            room *= 2;
            input->genome = realloc(input->genome, (size_t)room);
        }
        for (int i = 0; i < more; ++i) {
            input->genome[input->length++] = (char)toupper((unsigned char)line[i]);
        }
    }
    gzclose(file);
    return input->length >= LENGTH || complain(path, "no genome is in there");
}

/* Of each four lines the second one: long reads are cut, those that are too short are left out. */
static bool read_queries(Input *input, const char *path, int most)
{
    static char line[LINE];
    const gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        return complain(path, "cannot be read");
    }
    input->queries = malloc((size_t)most * LENGTH);
    for (int number = 0; input->count < most && next_line(file, line) != NULL; ++number) {
        if (number % 4 == 1 && strlen(line) >= LENGTH) {
            memcpy(input->queries + (size_t)input->count * LENGTH, line, LENGTH);
            ++input->count;
        }
    }
    gzclose(file);
    return input->count > 0 || complain(path, "no reads are in there");
}

bool input_read(Input *input, const char *genome, const char *reads, int most)
{
    *input = (Input){0};
    return read_genome(input, genome) && read_queries(input, reads, most);
}

static unsigned next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)(*state >> 33);
}

void input_make(Input *input, int length, int count)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    *input = (Input){malloc((size_t)length), length, malloc((size_t)count * LENGTH), count};
    for (int i = 0; i < length; ++i) {
        input->genome[i] = "ACGT"[next_random(&state) % 4];
    }
    /* A second copy of some of it, so that there are queries with several matches. */
    memcpy(input->genome + length / 2, input->genome, (size_t)length / 8);
    for (int i = 0; i < count; ++i) {
        char *const query = input->queries + (size_t)i * LENGTH;
        const int place = (int)(next_random(&state) % (unsigned)(length - LENGTH));
        memcpy(query, input->genome + place, LENGTH);
        if (next_random(&state) % 2 == 0) {
            char reversed[LENGTH];
            reverse_complement(query, reversed);
            memcpy(query, reversed, LENGTH);
        }
        for (int errors = (int)(next_random(&state) % 4); errors > 0; --errors) {
            query[next_random(&state) % LENGTH] = "ACGTN"[next_random(&state) % 5];
        }
    }
}

void input_free(Input *input)
{
    free(input->genome);
    free(input->queries);
    *input = (Input){0};
}
