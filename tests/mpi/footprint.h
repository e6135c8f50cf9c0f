/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process holds: memory, descriptors, mappings. For tests that nothing grows. */
#ifndef SIDELIGHT_TESTS_FOOTPRINT_H
#define SIDELIGHT_TESTS_FOOTPRINT_H

#include "check.h"
#include <dirent.h>
#include <malloc.h>

struct footprint {
    long heap;        /* bytes that were allocated and not freed */
    long resident;    /* bytes */
    long descriptors; /* open ones */
    long mappings;    /* lines of /proc/self/maps */
};

static inline long footprint_count_descriptors(void)
{
    DIR *const all = opendir("/proc/self/fd");
    long count = -1; /* its own */
    if (all == NULL)
        return 0;
    for (struct dirent *entry = readdir(all); entry != NULL; entry = readdir(all))
        count += entry->d_name[0] != '.';
    closedir(all);
    return count;
}

static inline long footprint_count_mappings(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    long count = 0;
    if (maps == NULL)
        return 0;
    for (int c = getc(maps); c != EOF; c = getc(maps))
        count += c == '\n';
    fclose(maps);
    return count;
}

/* What was freed in the middle of the heap, under something small that was not, would count as
 * resident. */
static inline struct footprint footprint_now(void)
{
    malloc_trim(0);
    struct mallinfo2 const heap = mallinfo2();
    struct footprint f = {.heap = (long)(heap.uordblks + heap.hblkhd)};
    long pages = 0, resident = 0;
    FILE *const memory = fopen("/proc/self/statm", "r");
    if (memory != NULL) {
        if (fscanf(memory, "%ld %ld", &pages, &resident) == 2)
            f.resident = resident * sysconf(_SC_PAGESIZE);
        fclose(memory);
    }
    f.descriptors = footprint_count_descriptors();
    f.mappings = footprint_count_mappings();
    return f;
}

static inline void footprint_print(const char *when, const struct footprint *f)
{
    printf("%-16s heap %8.1f KB, resident %8.1f MB, %3ld descriptors, %4ld mappings\n", when,
           (double)f->heap / 1e3, (double)f->resident / 1e6, f->descriptors, f->mappings);
    fflush(stdout);
}

#endif /* SIDELIGHT_TESTS_FOOTPRINT_H */
