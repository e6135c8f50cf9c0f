/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command with less than it would have: restrict [LIMIT...] -- COMMAND [ARGUMENT...]
 *
 *   nofile=N fsize=N    as ulimit -n and -f (in bytes): soft and hard
 *   as=MEGABYTES        as ulimit -v
 *   noproc fullshm      nothing in /proc, no room in /dev/shm; as root, in namespaces of their own
 *   nobody              as the user nobody, without further groups
 *   refuse=CALL,...:ERRNO   a filter of system calls answers EPERM or ENOSYS to these
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "which architecture is this?"
#endif

enum { NOBODY = 65534, CANNOT = 77, MOST_CALLS = 16 };

static const struct {
    const char* name;
    unsigned number;
} calls[] = {{"memfd_create", SYS_memfd_create},
             {"ptrace", SYS_ptrace},
             {"process_vm_readv", SYS_process_vm_readv},
             {"process_vm_writev", SYS_process_vm_writev},
             {"membarrier", SYS_membarrier},
             {"userfaultfd", SYS_userfaultfd}};

static void demand(int result, const char* what)
{
    if (result != 0) {
        fprintf(stderr, "restrict: %s: %s\n", what, strerror(errno));
        exit(CANNOT);
    }
}

static void limit(int resource, const char* value, rlim_t unit)
{
    rlim_t const most = (rlim_t)strtoull(value, NULL, 0) * unit;
    struct rlimit const both = {most, most};
    demand(setrlimit((__rlimit_resource_t)resource, &both), "setrlimit");
}

/* Mounts of this process and its children alone. */
static void cover(const char* place, const char* options)
{
    demand(unshare(CLONE_NEWNS), "unshare");
    demand(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount /");
    demand(mount("tmpfs", place, "tmpfs", 0, options), place);
}

static void fill_shared_memory(void)
{
    static char block[4096];
    cover("/dev/shm", "size=64k,mode=1777");
    FILE* const file = fopen("/dev/shm/full", "w");
    while (file != NULL && fwrite(block, sizeof block, 1, file) == 1 && fflush(file) == 0) {
    }
}

static void become_nobody(void)
{
    demand(setgroups(0, NULL), "setgroups");
    demand(setgid(NOBODY), "setgid");
    demand(setuid(NOBODY), "setuid");
}

static void refuse(char* list)
{
    struct sock_filter program[2 * MOST_CALLS + 8];
    unsigned short length = 0;
    char* const end = strchr(list, ':');
    unsigned const error = end != NULL && strcmp(end, ":ENOSYS") == 0 ? ENOSYS : EPERM;
    if (end != NULL)
        *end = '\0';
    program[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char* name = strtok(list, ","); name != NULL; name = strtok(NULL, ","))
        for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
            if (strcmp(name, calls[i].name) == 0) {
                program[length++] =
                    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
                program[length++] =
                    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
            }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog const filter = {length, program};
    demand(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
    demand(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), "seccomp");
}

static void apply(char* text)
{
    char* const value = strchr(text, '=');
    size_t const length = value != NULL ? (size_t)(value - text) : strlen(text);
    if (strncmp(text, "nofile", length) == 0)
        limit(RLIMIT_NOFILE, value + 1, 1);
    else if (strncmp(text, "fsize", length) == 0)
        limit(RLIMIT_FSIZE, value + 1, 1);
    else if (strncmp(text, "as", length) == 0)
        limit(RLIMIT_AS, value + 1, (rlim_t)1 << 20);
    else if (strncmp(text, "noproc", length) == 0)
        cover("/proc", "size=4k");
    else if (strncmp(text, "fullshm", length) == 0)
        fill_shared_memory();
    else if (strncmp(text, "nobody", length) == 0)
        become_nobody();
    else if (strncmp(text, "refuse", length) == 0)
        refuse(value + 1);
    else {
        fprintf(stderr, "restrict: what is %s?\n", text);
        exit(CANNOT);
    }
}

int main(int argc, char** argv)
{
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; ++i)
        apply(argv[i]);
    if (i + 1 < argc)
        execvp(argv[i + 1], argv + i + 1);
    fprintf(stderr, "restrict: no such command\n");
    return CANNOT;
}
