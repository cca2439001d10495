// SPDX-License-Identifier: Apache-2.0
// Finds the true `cpuid` instructions of an x86-64 ELF file. The two bytes also occur inside
// addresses and constants: functions that hold them are walked instruction by instruction from
// their beginning, which the unwind tables (.eh_frame_hdr; static programs have .eh_frame alone) or
// the symbol table know. Hand-written functions and some languages have neither: there the code
// before the bytes must look like a question, or they are counted as not known. The file is
// hostile: every offset is checked. Tables and unwind records are read by the same two files as in
// the room `binary`. What that makes of them (sorted lists in an arena, gaps that a disassembler
// fills) stays there: here a program is about to start, and its file is asked a few questions.
#include "launch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binary/elf_tables.h"
#include "binary/unwind.h"

#define MAX_SITES 4096
#define NEAR_ENTRY 256 // bytes

typedef struct image {
    etp_elf_tables elf;
    const unsigned char *data; // of the file
    size_t size;
    const unsigned char *table; // of .eh_frame_hdr: pairs of start and entry, sorted
    size_t n_table;
    uint64_t table_base; // address that its numbers are relative to
    etp_bytes frames;    // .eh_frame; empty none
    uint64_t frames_vaddr;
    etp_bytes symbols, names;
    bool whole; // .symtab: local functions too; else only what is exported and imported
} image;

static bool read_header(image *m)
{
    etp_bytes file = {m->data, m->size, 0};
    return etp_elf_open(file, &m->elf) &&
           (m->elf.n_segments > 0 || etp_load_u16(m->data + 56) == 0);
}

// Version 1, frame pointer as it likes, counted, a table of 4-byte numbers relative to the section.
static void read_unwind(image *m, const etp_elf_segment *p)
{
    static const unsigned char k_encoding = 0x3b; // DW_EH_PE_datarel | DW_EH_PE_sdata4
    if (p->bytes.len < 12) {
        return;
    }
    const unsigned char *h = p->bytes.ptr;
    bool four_bytes = (h[1] & 0x07) == 0x03; // udata4 or sdata4
    if (h[0] != 1 || !four_bytes || h[2] != 0x03 || h[3] != k_encoding) {
        return;
    }
    uint32_t count;
    memcpy(&count, h + 8, 4);
    if (count > (p->bytes.len - 12) / 8) {
        return;
    }
    m->table = h + 12;
    m->n_table = count;
    m->table_base = p->address;
}

// .symtab, else .dynsym; and .eh_frame.
static void read_sections(image *m)
{
    uint32_t found = 0;
    for (size_t i = 0; i < m->elf.n_sections; i++) {
        etp_elf_section s, names;
        if (!etp_elf_section_at(&m->elf, i, &s)) {
            continue;
        }
        etp_str name = etp_image_name_at(m->elf.names, s.name);
        if (name.len == 9 && memcmp(name.ptr, ".eh_frame", 9) == 0) {
            m->frames = s.bytes;
            m->frames_vaddr = s.address;
        }
        bool wanted = s.type == ETP_ELF_SYMTAB || (s.type == ETP_ELF_DYNSYM && found == 0);
        if (wanted && s.link < m->elf.n_sections && etp_elf_section_at(&m->elf, s.link, &names)) {
            found = s.type;
            m->whole = found == ETP_ELF_SYMTAB;
            m->symbols = s.bytes;
            m->names = names.bytes;
        }
    }
}

typedef struct function {
    uint64_t start, end; // addresses
    bool known, cpuinfo;
} function;

static etp_unwind frames_of(const image *m)
{
    return etp_unwind_begin(m->frames, m->frames_vaddr);
}

// The last function of .eh_frame that begins at or before ADDRESS.
static function by_frames(const image *m, uint64_t address)
{
    etp_unwind u = frames_of(m);
    function best = {0};
    for (etp_range r; etp_unwind_next(&u, &r);) {
        if (r.start <= address && (!best.known || r.start > best.start)) {
            best = (function){.start = r.start, .end = r.end, .known = true};
        }
    }
    return best;
}

static bool name_starts(const image *m, uint32_t name, const char *prefix)
{
    size_t len = strlen(prefix);
    return name < m->names.len && len <= m->names.len - name &&
           memcmp(m->names.ptr + name, prefix, len) == 0;
}

// The function around ADDRESS by the symbol table.
static function by_symbol(const image *m, uint64_t address)
{
    function f = {0};
    for (size_t i = 0; i < m->symbols.len / ETP_ELF_SYMBOL_BYTES; i++) {
        etp_elf_symbol s = etp_elf_symbol_at(m->symbols, i);
        if (s.type == ETP_ELF_FUNCTION && s.start <= address && address - s.start < s.size) {
            f = (function){s.start, s.start + s.size, true, name_starts(m, s.name, "cpuinfo_")};
            if (f.cpuinfo) {
                break;
            }
        }
    }
    return f;
}

// Where is the cpuinfo library that this file's code asks?
typedef enum home { HOME_UNKNOWN, HOME_HERE, HOME_ELSEWHERE } home;

static home find_cpuinfo(const image *m)
{
    home found = HOME_UNKNOWN;
    for (size_t i = 0; i < m->symbols.len / ETP_ELF_SYMBOL_BYTES; i++) {
        etp_elf_symbol s = etp_elf_symbol_at(m->symbols, i);
        if (!name_starts(m, s.name, "cpuinfo_")) {
            continue;
        }
        if (s.section != 0 && s.type == ETP_ELF_FUNCTION && s.size > 0) {
            return HOME_HERE;
        }
        found = s.section == 0 ? HOME_ELSEWHERE : found;
    }
    return found;
}

static uint64_t unwind_start(const image *m, size_t i)
{
    int32_t delta;
    memcpy(&delta, m->table + i * 8, 4);
    return m->table_base + (uint64_t)(int64_t)delta;
}

// Where the record of entry I lies in .eh_frame; a number behind its end when it lies elsewhere.
static uint64_t unwind_record(const image *m, size_t i)
{
    int32_t delta;
    memcpy(&delta, m->table + i * 8 + 4, 4);
    return m->table_base + (uint64_t)(int64_t)delta - m->frames_vaddr;
}

static function by_unwind(const image *m, uint64_t address)
{
    size_t low = 0, high = m->n_table;
    while (low < high) { // first start > address
        size_t mid = low + (high - low) / 2;
        if (unwind_start(m, mid) <= address) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (low == 0) {
        return m->n_table == 0 ? by_frames(m, address) : (function){0};
    }
    function f = {.start = unwind_start(m, low - 1), .known = true};
    etp_unwind u = frames_of(m);
    etp_range record = etp_unwind_at(&u, unwind_record(m, low - 1));
    f.end = record.end > 0 && record.start == f.start ? record.end
                                                      : UINT64_MAX; // without sections: not known
    return f;
}

// What becomes of a walk, instruction by instruction, from FROM to TO (both offsets in the file).
typedef enum walk { WALK_LANDS, WALK_PASSES, WALK_STICKS } walk;

static walk walk_to(const image *m, uint64_t from, uint64_t to)
{
    while (from < to) {
        size_t n = x86_instruction_length(m->data + from, (size_t)(m->size - from));
        if (n == 0) {
            return WALK_STICKS;
        }
        from += n;
    }
    return from == to ? WALK_LANDS : WALK_PASSES;
}

// Does the instruction put something into EAX that cpuid could be asked?
static bool sets_leaf(const unsigned char *code, size_t n)
{
    while (n > 1 && (*code & 0xf0) == 0x40) { // REX, the registers' upper halves
        if ((*code & 5) != 0) {
            return false; // R8 to R15
        }
        code++;
        n--;
    }
    uint32_t leaf = UINT32_MAX;
    if (n == 5 && code[0] == 0xb8) {
        memcpy(&leaf, code + 1, 4);
        return (leaf & 0x3fffffff) <= 0xff; // basic, hypervisor's, extended
    }
    if (n < 2) {
        return n == 1 && code[0] == 0x58; // pop
    }
    switch (code[0]) {
    case 0x31:
    case 0x33:
    case 0x29: // xor or sub of itself
        return code[1] == 0xc0;
    case 0x89: // mov from a register
        return (code[1] & 0xc7) == 0xc0;
    case 0x8b:
    case 0x8d: // mov and lea to it
        return (code[1] & 0x38) == 0;
    case 0x83: // add and or of a small number
    case 0xff: // inc
        return code[1] == 0xc0 || code[1] == 0xc8;
    default:
        return false;
    }
}

// Code whose functions are not known: instructions fall into step soon wherever one begins to read,
// so nearly every walk that begins a little earlier lands on a true instruction. Data falls into
// step too; that what was read loads a question besides keeps those out.
static walk by_context(const image *m, uint64_t begin, uint64_t offset)
{
    enum { BEFORE = 96, STARTS = 64, NEAR = 6 };
    unsigned walks = 0, lands = 0;
    bool asks = false;
    uint64_t first = offset - begin > BEFORE ? offset - BEFORE : begin;
    for (uint64_t from = first; from < first + STARTS && from < offset; from++) {
        uint64_t last[NEAR] = {0};
        size_t n = 0;
        uint64_t at = from;
        while (at < offset) {
            size_t len = x86_instruction_length(m->data + at, (size_t)(m->size - at));
            if (len == 0) {
                break;
            }
            last[n++ % NEAR] = at;
            at += len;
        }
        walks += at >= offset;
        lands += at == offset;
        for (size_t i = 0; at == offset && i < NEAR && i < n; i++) {
            asks = asks || sets_leaf(m->data + last[i],
                                     x86_instruction_length(m->data + last[i],
                                                            (size_t)(m->size - last[i])));
        }
    }
    if (lands * 8 >= walks * 7 && lands >= 2 && asks) {
        return WALK_LANDS;
    }
    return lands * 2 < walks ? WALK_PASSES : WALK_STICKS;
}

static bool add(cpuid_sites *out, uint64_t offset)
{
    if (out->n == MAX_SITES) {
        return false;
    }
    if ((out->n & 63) == 0) {
        uint64_t *more = realloc(out->offsets, (out->n + 64) * sizeof *more);
        if (!more) {
            return false;
        }
        out->offsets = more;
    }
    out->offsets[out->n++] = offset;
    return true;
}

static void search(const image *m, const etp_elf_segment *p, cpuid_sites *out)
{
    const unsigned char *begin = p->bytes.ptr, *end = begin + p->bytes.len;
    const uint64_t first = p->bytes.base; // in the file
    for (const unsigned char *q = begin; end - q >= 2; q++) {
        q = memchr(q, 0x0f, (size_t)(end - q) - 1);
        if (!q) {
            break;
        }
        if (q[1] != 0xa2) {
            continue;
        }
        uint64_t offset = (uint64_t)(q - m->data);
        uint64_t address = p->address + (offset - first);
        function s = by_symbol(m, address), u = by_unwind(m, address);
        function f = u.known && (!s.known || u.start >= s.start) ? u : s;
        if (!f.known) { // the program's own beginning, when it is near
            f = (function){.start = m->elf.entry, .end = UINT64_MAX};
            f.known = f.start >= p->address && f.start <= address && address - f.start < NEAR_ENTRY;
        }
        walk w = WALK_STICKS;
        if (f.known && f.start >= p->address && address < f.end) {
            w = walk_to(m, f.start - p->address + first, offset);
        }
        // A function without a known end may have ended before.
        w = w == WALK_STICKS || (w == WALK_PASSES && f.end == UINT64_MAX)
                ? by_context(m, first, offset)
                : w;
        if (out->by_symbols && !s.cpuinfo) {
            out->left += w == WALK_LANDS;
        } else if (w == WALK_STICKS || (w == WALK_LANDS && !add(out, offset))) {
            out->unsure++;
        }
    }
}

// Their own use of CPUID picks string functions, not kernels, and levels are not about those.
static bool is_system_library(const char *path)
{
    static const char *const k_names[] = {"ld-linux",   "ld-musl",    "ld.so",     "libc.so",
                                          "libc-",      "libm.so",    "libm-",     "libgcc_s.",
                                          "libstdc++.", "libmvec.",   "libdl.",    "libpthread",
                                          "librt.",     "libresolv.", "libcrypto."};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof k_names / sizeof k_names[0]; i++) {
        if (strncmp(name, k_names[i], strlen(k_names[i])) == 0) {
            return true;
        }
    }
    return false;
}

bool elf_find_cpuid_in(const unsigned char *data, size_t size, cpuid_sites *out)
{
    memset(out, 0, sizeof *out);
    image m = {.data = data, .size = size};
    if (!read_header(&m) || m.elf.machine != ETP_ELF_X86_64) {
        return false;
    }
    out->entry = m.elf.entry;
    read_sections(&m);
    home where = find_cpuinfo(&m);
    // What such a file asks for itself is no kernel selection.
    out->by_symbols = where == HOME_ELSEWHERE || (where == HOME_HERE && m.whole);
    for (size_t i = 0; i < m.elf.n_segments; i++) {
        etp_elf_segment p = etp_elf_segment_at(&m.elf, i);
        if (p.type == ETP_ELF_EH_FRAME_HDR) {
            read_unwind(&m, &p);
        }
    }
    for (size_t i = 0; i < m.elf.n_segments; i++) {
        etp_elf_segment p = etp_elf_segment_at(&m.elf, i);
        if (p.type != ETP_ELF_LOAD || (p.flags & ETP_ELF_EXECUTABLE) == 0 || !p.bytes.ptr) {
            continue;
        }
        if (out->n_code < sizeof out->code / sizeof out->code[0]) {
            out->code[out->n_code].offset = p.bytes.base;
            out->code[out->n_code].vaddr = p.address;
            out->code[out->n_code++].size = p.bytes.len;
        }
        search(&m, &p, out);
    }
    return true;
}

// Maps PATH; false when it cannot be.
static bool map(const char *path, const unsigned char **out_data, size_t *out_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    if (ok) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = p != MAP_FAILED;
        *out_data = p;
        *out_size = (size_t)st.st_size;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

static void unmap(const unsigned char *data, size_t size)
{
    void *p;
    memcpy(&p, &data, sizeof p);
    (void)munmap(p, size);
}

bool elf_find_cpuid(const char *path, cpuid_sites *out)
{
    const unsigned char *data;
    size_t size;
    memset(out, 0, sizeof *out);
    if (!map(path, &data, &size)) {
        return false;
    }
    bool ok = true;
    if (is_system_library(path)) {
        out->system_library = true;
    } else {
        ok = elf_find_cpuid_in(data, size, out);
    }
    unmap(data, size);
    return ok;
}

void elf_sites_free(cpuid_sites *sites)
{
    free(sites->offsets);
    memset(sites, 0, sizeof *sites);
}

bool elf_is_static(const char *path, bool *out_static)
{
    image m = {0};
    if (!map(path, &m.data, &m.size)) {
        return false;
    }
    bool ok = read_header(&m);
    *out_static = true;
    for (size_t i = 0; ok && i < m.elf.n_segments; i++) {
        *out_static = *out_static && etp_elf_segment_at(&m.elf, i).type != ETP_ELF_INTERPRETER;
    }
    unmap(m.data, m.size);
    return ok;
}
