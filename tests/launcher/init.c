// SPDX-License-Identifier: Apache-2.0
// First program of the emulated arm64 machine: runs the command lines in /tests (words, one line a
// test), prints "== <status>" after each, and switches the machine off. "show FILE": the texts in
// it; "as UID PROGRAM …": as that user; "PROGRAM … < FILE": with that as its input.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Like strings(1).
static int show(const char *path)
{
    char run[4096];
    size_t n = 0;
    FILE *f = fopen(path, "r");
    for (int c; f && (c = fgetc(f)) != EOF;) {
        if (c >= ' ' && c <= '~' && n < sizeof run - 1) {
            run[n++] = (char)c;
            continue;
        }
        run[n] = '\0';
        if (n >= 6) {
            puts(run);
        }
        n = 0;
    }
    fflush(stdout);
    return f ? 0 : 1;
}

static void start(char **words, size_t n)
{
    dup2(1, 2);
    if (n == 2 && strcmp(words[0], "show") == 0) {
        _exit(show(words[1]));
    }
    if (n > 2 && strcmp(words[n - 2], "<") == 0) {
        words[n - 2] = NULL;
        if (freopen(words[n - 1], "r", stdin) == NULL) {
            _exit(125);
        }
    }
    if (n > 2 && strcmp(words[0], "as") == 0) {
        if (setuid((uid_t)atoi(words[1])) != 0) {
            _exit(125);
        }
        words += 2;
    }
    execv(words[0], words);
    _exit(126);
}

int main(void)
{
    char line[1024];
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mkdir("/tmp", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sysfs", "/sys", "sysfs", 0, NULL);
    FILE *tests = fopen("/tests", "r");
    while (tests && fgets(line, sizeof line, tests)) {
        char *words[64];
        size_t n = 0;
        for (char *w = strtok(line, " \n"); w && n < 63; w = strtok(NULL, " \n")) {
            words[n++] = w;
        }
        words[n] = NULL;
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) {
            start(words, n);
        }
        waitpid(pid, &status, 0);
        printf("== %d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
    }
    printf("== end\n");
    fflush(stdout);
    reboot(RB_POWER_OFF);
    return 0;
}
