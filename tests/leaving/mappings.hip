// What an address or a handle means changes while a window is open. The first argument is the library of `newer.hip`, the second
// the case.
#include "calls.h"
#include "cases.h"
#include "exported.h"
#include "process_memory.h"

// Finds what it reads by a pointer in memory.
__global__ void follow(uint32_t* out, uint32_t* const* table) { out[global_index()] += (*table)[global_index()]; }

// Uses what a handle stands for, as an image instruction would.
__global__ void sample(uint32_t* out, const uint32_t* described) { out[global_index()] += *described; }

// One address, two memories; `within`: the first is mapped within the window too.
static void remapped(bool within) {
    Out out;
    void* address = calls->reserve(kBytes);
    uint64_t handles[] = {calls->create(kBytes), calls->create(kBytes)};
    uint32_t* data = nullptr;
    if (!within) data = mapped(address, handles[0]);
    launch(advance, out.data);
    for (uint32_t& word : out.expected) word = next_word(word);
    for (uint32_t round = 0; round < 2; round++) {
        if (within || round == 1) data = mapped(address, handles[round]);
        auto expected = filled(round * 1000);
        launch(fill, data, round * 1000);
        launch(advance, data);
        for (uint32_t& word : expected) word = next_word(word);
        launch(add, out.data, static_cast<const uint32_t*>(data));
        out.adds(expected);
        MUST(calls->unmap(address, kBytes));
    }
    // The first memory again: as it was left.
    auto expected = filled(0);
    for (uint32_t& word : expected) word = next_word(word);
    data = mapped(address, handles[0]);
    launch(add, out.data, static_cast<const uint32_t*>(data));
    out.adds(expected);
    out.check("remapped");
    MUST(calls->unmap(address, kBytes));
}

// The GPU's access to a mapping comes and goes. The mapping is the second of two that the call names.
static void access() {
    Out out;
    auto address = static_cast<char*>(calls->reserve(2 * kBytes));
    for (size_t part : {0, 1}) MUST(calls->map(address + part * kBytes, kBytes, calls->create(kBytes)));
    // Nobody has access yet.
    launch(advance, out.data);
    for (uint32_t& word : out.expected) word = next_word(word);
    MUST(calls->access(address, 2 * kBytes, HSA_ACCESS_PERMISSION_RW));
    auto data = reinterpret_cast<uint32_t*>(address + kBytes);
    launch(fill, data, 5u);
    uint32_t** table = device_array(std::vector<uint32_t*>{data});
    launch(follow, out.data, static_cast<uint32_t* const*>(table));
    out.adds(filled(5));
    MUST(calls->access(address, 2 * kBytes, hsa_access_permission_t(0)));
    launch(advance, out.data);
    for (uint32_t& word : out.expected) word = next_word(word);
    out.check("access");
    CHECK(hipFree(table));
    for (size_t part : {0, 1}) MUST(calls->unmap(address + part * kBytes, kBytes));
}

// Attributes of memory change that a recorded launch found by a pointer: a later one may not be allowed to.
static void attributes() {
    Out out;
    uint32_t *data = nullptr, *seen = nullptr;
    CHECK(hipHostMalloc(reinterpret_cast<void**>(&data), kBytes, hipHostMallocMapped));
    CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&seen), data, 0));
    auto words = filled(7);
    std::copy(words.begin(), words.end(), data);
    uint32_t** table = device_array(std::vector<uint32_t*>{seen});
    launch(follow, out.data, static_cast<uint32_t* const*>(table));
    out.adds(words);
    MUST(calls->attributes(data, kBytes));
    launch(advance, out.data);
    for (uint32_t& word : out.expected) word = next_word(word);
    out.check("attributes");
    CHECK(hipFree(table));
    CHECK(hipHostFree(data));
}

// Managed memory goes without a call of the runtime.
static void managed() {
    Out out;
    auto data = static_cast<uint32_t*>(calls->managed(kBytes));
    MUST(calls->attributes(data, kBytes));
    auto words = filled(9);
    std::copy(words.begin(), words.end(), data);
    uint32_t** table = device_array(std::vector<uint32_t*>{data});
    launch(follow, out.data, static_cast<uint32_t* const*>(table));
    out.adds(words);
    munmap(data, kBytes);
    for (int time = 0; time < 2; time++) {
        launch(advance, out.data);
        for (uint32_t& word : out.expected) word = next_word(word);
    }
    out.check("managed");
    CHECK(hipFree(table));
}

static void destroyed(hsa_status_t (*destroy)(uint64_t)) {
    Out out;
    uint64_t handle = calls->describe(11, 1);
    launch(sample, out.data, reinterpret_cast<const uint32_t*>(handle));
    out.adds(11);
    MUST(destroy(handle));
    launch(advance, out.data);
    for (uint32_t& word : out.expected) word = next_word(word);
    out.check("destroyed");
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    if (const char* tools = std::getenv("HSA_TOOLS_LIB")) setenv("NEWER_TOOL", tools, 1);
    setenv("HSA_TOOLS_LIB", argv[1], 1);
    CHECK(hipInit(0));
    void* library = dlopen(argv[1], RTLD_NOW);
    auto find = library ? reinterpret_cast<const NewerCalls* (*)()>(dlsym(library, "newer_calls")) : nullptr;
    if (!find) return 2;
    calls = find();
    std::string wanted = argv[2];
    if (wanted == "remapped") remapped(false);
    if (wanted == "within") remapped(true);
    if (wanted == "access") access();
    if (wanted == "attributes") attributes();
    if (wanted == "managed") managed();
    if (wanted == "ipc") exported(calls->ipc);
    if (wanted == "dmabuf") exported(calls->dmabuf);
    if (wanted == "dmabuf-v2") exported(calls->dmabuf_v2);
    if (wanted == "exported-variable") exported_variable();
    if (wanted == "exported-handle") exported_handle();
    if (wanted == "imported-handle") imported_handle();
    if (wanted == "answered") answered();
    if (wanted == "process") process_memory();
    if (wanted == "process-copy") copied_process_memory();
    if (wanted == "no-memory") no_memory();
    if (wanted == "batch-copy") copied([](void* to, const uint32_t* from) { return calls->batch_copy(to, from, kBytes); });
    if (wanted == "file") copied(from_file);
    if (wanted == "variable") copied_variable();
    if (wanted == "counted") counted();
    if (wanted == "inactivated") inactivated();
    if (wanted == "image") destroyed(calls->image_destroy);
    if (wanted == "sampler") destroyed(calls->sampler_destroy);
    if (wanted == "clear") written(calls->image_clear);
    if (wanted == "copy") written(calls->image_copy);
    if (wanted == "import") written(calls->image_import);
    if (wanted == "export") written(calls->image_export);
    return finish();
}
