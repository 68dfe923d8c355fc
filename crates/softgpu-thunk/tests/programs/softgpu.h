// The instruments of the thunk library, as the crate's documentation declares them.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct softgpu_range {
    uint64_t address, bytes;
};
struct softgpu_counts {
    uint64_t vram_allocations, host_allocations, registrations, vram_bytes, events, queues, dispatches, completed, errors;
};

static int (*softgpu_oracle_keep)(int);
static int (*softgpu_oracle_take)(uint64_t, uint64_t *, struct softgpu_range *, size_t *, struct softgpu_range *, size_t *);
static int (*softgpu_fault_inject)(const char *);
static int (*softgpu_fault_clear)(void);
static int (*softgpu_foreign_write)(uint64_t, const void *, size_t);
static int (*softgpu_counts_get)(struct softgpu_counts *);

static void softgpu_find(const char *name, void *function) {
    *(void **)function = dlsym(RTLD_DEFAULT, name);
    if (*(void **)function == NULL) {
        fprintf(stderr, "no %s: this is not the software GPU\n", name);
        exit(1);
    }
}

static void softgpu_load(void) {
    softgpu_find("softgpu_oracle_keep", (void *)&softgpu_oracle_keep);
    softgpu_find("softgpu_oracle_take", (void *)&softgpu_oracle_take);
    softgpu_find("softgpu_fault_inject", (void *)&softgpu_fault_inject);
    softgpu_find("softgpu_fault_clear", (void *)&softgpu_fault_clear);
    softgpu_find("softgpu_foreign_write", (void *)&softgpu_foreign_write);
    softgpu_find("softgpu_counts_get", (void *)&softgpu_counts_get);
}
