// SPDX-License-Identifier: Apache-2.0
// The command line of the runners of these tests, as gflags takes it: --name=value or --name value,
// one dash or two, a name that is not there ends the program.
#ifndef FOREIGN_FLAGS_H
#define FOREIGN_FLAGS_H

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

using Flags = std::map<std::string, std::string>; // with what each is when it is not given

// False, and said on stderr, where a flag is none of FLAGS.
inline bool read_flags(int argc, char **argv, Flags &flags)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i] + std::strspn(argv[i], "-");
        const char *equals = std::strchr(word, '=');
        std::string name(word, equals ? static_cast<size_t>(equals - word) : std::strlen(word));
        if (flags.count(name) == 0) {
            std::fprintf(stderr, "ERROR: unknown command line flag '%s'\n", name.c_str());
            return false;
        }
        if (equals) {
            flags[name] = equals + 1;
        } else {
            flags[name] = i + 1 < argc ? argv[++i] : "";
        }
    }
    return true;
}

#endif
