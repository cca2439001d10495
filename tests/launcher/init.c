// SPDX-License-Identifier: Apache-2.0
// First program of the emulated arm64 machine: runs the command lines in /tests (words, one line a test),
// prints "== <status>" after each, and switches the machine off.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
            dup2(1, 2);
            execv(words[0], words);
            _exit(126);
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
