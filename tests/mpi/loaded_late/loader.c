/* SPDX-License-Identifier: BSD-3-Clause */
/* loader OBJECT: loads an MPI program as an interpreter loads an extension module. MPI comes with
 * it, long after the libraries that were preloaded, and into a scope of its own. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*run)(void) = NULL;
    void *const object = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (object != NULL) {
        *(void **)&run = dlsym(object, "run");
    }
    if (run == NULL) {
        const char *const reason = dlerror();
        fprintf(stderr, "loader: %s\n", reason != NULL ? reason : "one object, please");
        return 1;
    }
    return run();
}
