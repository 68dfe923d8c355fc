// What an address or a handle means changes while a window is open. The first argument is the library of `newer.hip`, the second
// the case.
#include "../programs/check.h"
#include "newer.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <thread>

static const size_t kCount = 1024, kBytes = kCount * 4;
static const NewerCalls* calls;

#define MUST(call)                                                            \
    do {                                                                      \
        if ((call) != HSA_STATUS_SUCCESS) {                                   \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #call);   \
            std::exit(2);                                                     \
        }                                                                     \
    } while (0)

__global__ void fill(uint32_t* data, uint32_t word) { data[global_index()] = word + uint32_t(global_index()); }

__global__ void advance(uint32_t* data) { data[global_index()] = next_word(data[global_index()]); }

__global__ void add(uint32_t* out, const uint32_t* data) { out[global_index()] += data[global_index()]; }

// Finds what it reads by a pointer in memory.
__global__ void follow(uint32_t* out, uint32_t* const* table) { out[global_index()] += (*table)[global_index()]; }

// Uses what a handle stands for, as an image instruction would.
__global__ void sample(uint32_t* out, const uint32_t* described) { out[global_index()] += *described; }

// Waits for an answer of somebody's who watches what it writes.
__global__ void ask(volatile uint32_t* question, volatile uint32_t* const* table) {
    if (global_index() != 0) return;
    question[0] = 1;
    while ((*table)[0] == 0) {
    }
    question[1] = (*table)[0];
}

template <class... T>
static void launch(void (*kernel)(T...), T... arguments) {
    kernel<<<kCount / kBlock, kBlock>>>(arguments...);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
}

struct Out {
    std::vector<uint32_t> expected = random_words(kCount, 3);
    uint32_t* data = device_array(expected);
    void adds(const std::vector<uint32_t>& words) {
        for (size_t i = 0; i < kCount; i++) expected[i] += words[i];
    }
    void adds(uint32_t word) {
        for (uint32_t& one : expected) one += word;
    }
    void check(const char* name) { verdict(name, fetch(data, kCount), expected); }
};

static std::vector<uint32_t> filled(uint32_t word) {
    std::vector<uint32_t> words(kCount);
    for (size_t i = 0; i < kCount; i++) words[i] = word + uint32_t(i);
    return words;
}

static uint32_t* mapped(void* address, uint64_t handle) {
    MUST(calls->map(address, kBytes, handle));
    MUST(calls->access(address, kBytes, HSA_ACCESS_PERMISSION_RW));
    return static_cast<uint32_t*>(address);
}

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

static void advance_words(std::vector<uint32_t>& words) {
    for (uint32_t& word : words) word = next_word(word);
}

// Memory is handed to another process while a window is open that has it; and what is allocated later is nobody else's.
static void exported(hsa_status_t (*call)(void*, size_t)) {
    Out out, shared, later;
    for (Out* one : {&shared, &out}) {
        launch(advance, one->data);
        advance_words(one->expected);
    }
    // What is within it is not all that is shared.
    MUST(call(shared.data + 8, 16));
    for (Out* one : {&shared, &out}) {
        launch(advance, one->data);
        advance_words(one->expected);
    }
    shared.check("shared");
    CHECK(hipFree(shared.data));
    later.data = device_array(later.expected);
    for (Out* one : {&later, &out}) {
        launch(advance, one->data);
        advance_words(one->expected);
        one->check("unshared");
    }
}

// A mapping's memory is handed to another process: all that is mapped of it, then and later; until its number is another's.
static void exported_handle() {
    Out out;
    uint64_t handle = calls->create(kBytes);
    void* addresses[] = {calls->reserve(kBytes), calls->reserve(kBytes), calls->reserve(kBytes)};
    for (int i : {0, 1}) mapped(addresses[i], handle);
    auto expected = filled(5);
    launch(fill, static_cast<uint32_t*>(addresses[0]), 5u);
    MUST(calls->share(handle));
    for (int i : {0, 1, 2}) {
        if (i == 2) mapped(addresses[2], handle);
        launch(advance, static_cast<uint32_t*>(addresses[i]));
        advance_words(expected);
    }
    // Access that changes gives nothing back.
    MUST(calls->access(addresses[1], kBytes, HSA_ACCESS_PERMISSION_RW));
    launch(add, out.data, static_cast<const uint32_t*>(addresses[1]));
    out.adds(expected);
    for (void* address : addresses) MUST(calls->unmap(address, kBytes));
    calls->release(handle);
    if (calls->create(kBytes) != handle) std::exit(3);
    mapped(addresses[0], handle);
    launch(fill, static_cast<uint32_t*>(addresses[0]), 7u);
    launch(add, out.data, static_cast<const uint32_t*>(addresses[0]));
    out.adds(filled(7));
    out.check("exported handle");
    MUST(calls->unmap(addresses[0], kBytes));
}

// Another process's memory, mapped here.
static void imported_handle() {
    Out out;
    auto data = mapped(calls->reserve(kBytes), calls->import(kBytes));
    launch(fill, data, 5u);
    launch(advance, out.data);
    advance_words(out.expected);
    launch(add, out.data, static_cast<const uint32_t*>(data));
    out.adds(filled(5));
    out.check("imported handle");
    MUST(calls->unmap(data, kBytes));
}

// What another process writes within a window stays, though it does so only once.
static void answered() {
    std::vector<uint32_t> zeroes(2);
    volatile uint32_t *question = device_array(zeroes), *answer = device_array(zeroes);
    auto table = device_array(std::vector<volatile uint32_t*>{answer});
    MUST(calls->ipc(const_cast<uint32_t*>(answer), 8));
    std::thread other([&] {
        while (question[0] != 1) std::this_thread::yield();
        answer[0] = 5;
    });
    launch(ask, question, static_cast<volatile uint32_t* const*>(table));
    other.join();
    verdict("ask", fetch(const_cast<uint32_t*>(question), 2), std::vector<uint32_t>{1, 5});
    verdict("answer", fetch(const_cast<uint32_t*>(answer), 1), std::vector<uint32_t>{5});
}

__device__ uint32_t variable[kCount];

// Where the GPU reaches all memory of the process: kernels are given what was not allocated for it.
static void process_memory() {
    Out out;
    std::vector<uint32_t> words = random_words(kCount, 8), expected = words;
    launch(advance, words.data());
    advance_words(expected);
    launch(add, out.data, static_cast<const uint32_t*>(words.data()));
    out.adds(expected);
    launch(advance, out.data);
    advance_words(out.expected);
    verdict("process", words, expected);
    out.check("process");
}

// No allocation tells of a variable that is handed to another process.
static void exported_variable() {
    Out out;
    void* address = nullptr;
    CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)));
    launch(fill, static_cast<uint32_t*>(address), 3u);
    MUST(calls->ipc(address, kBytes));
    launch(add, out.data, static_cast<const uint32_t*>(address));
    out.adds(filled(3));
    launch(advance, out.data);
    advance_words(out.expected);
    out.check("exported variable");
}

// Named as HIP names those with which it copies.
extern "C" __global__ void __amd_rocclr_copyBufferTest(uint32_t* to, const uint32_t* from) {
    to[global_index()] = from[global_index()];
}

// Such a copy from memory of the process, which is written anew when it has ended.
static void copied_process_memory() {
    Out out;
    launch(advance, out.data);
    std::vector<uint32_t> words = random_words(kCount, 14);
    launch(__amd_rocclr_copyBufferTest, out.data, static_cast<const uint32_t*>(words.data()));
    out.expected = words;
    words.assign(kCount, 0);
    launch(advance, out.data);
    advance_words(out.expected);
    out.check("copied process memory");
}

// Stores into one of three, and looks at what only seem to be addresses.
__global__ void choose(uint32_t* first, uint32_t* end, uint32_t* other) {
    size_t i = global_index();
    if (first != other && first + i < end) first[i] = next_word(first[i]);
}

// What is no memory of the process's that a kernel could use: nothing, what was freed, an end, a number; and a variable.
static void no_memory() {
    Out out;
    uint32_t* freed = poisoned<uint32_t>(kCount);
    CHECK(hipFree(freed));
    auto reserved = static_cast<uint32_t*>(calls->reserve(kBytes));
    uint32_t* number = reinterpret_cast<uint32_t*>(3);
    for (uint32_t* other : {static_cast<uint32_t*>(nullptr), freed, reserved, number}) {
        launch(choose, out.data, out.data + kCount, other);
        advance_words(out.expected);
    }
    void* address = nullptr;
    CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)));
    launch(fill, static_cast<uint32_t*>(address), 3u);
    launch(add, out.data, static_cast<const uint32_t*>(address));
    out.adds(filled(3));
    out.check("no memory");
}

// A call that copies into the program's memory, between two launches.
static void copied(hsa_status_t (*copy)(void* to, const uint32_t* from)) {
    Out out;
    launch(advance, out.data);
    out.expected = random_words(kCount, 12);
    MUST(copy(out.data, out.expected.data()));
    launch(advance, out.data);
    advance_words(out.expected);
    out.check("copied");
}

static hsa_status_t from_file(void* to, const uint32_t* from) {
    std::FILE* file = std::tmpfile();
    if (!file || std::fwrite(from, 1, kBytes, file) != kBytes || std::fflush(file) != 0) return HSA_STATUS_ERROR;
    hsa_status_t status = calls->file_read(to, fileno(file), kBytes);
    std::fclose(file);
    return status;
}

template <class T>
static T function(const char* name) {
    auto found = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
    if (!found) std::exit(2);
    return found;
}

// The same into a variable, of which no allocation tells.
static void copied_variable() {
    Out out;
    void* address = nullptr;
    CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)));
    launch(fill, static_cast<uint32_t*>(address), 3u);
    auto words = random_words(kCount, 13);
    MUST(function<decltype(&hsa_memory_copy)>("hsa_memory_copy")(address, words.data(), kBytes));
    launch(advance, static_cast<uint32_t*>(address));
    advance_words(words);
    launch(add, out.data, static_cast<const uint32_t*>(address));
    out.adds(words);
    out.check("copied variable");
}

// A queue that the runtime shares out. The tool, where there is one, makes it.
static void counted() {
    Out out;
    hsa_queue_t* queue = calls->acquire();
    if (calls->counted() != (std::getenv("NEWER_TOOL") ? 0 : 1)) std::exit(3);
    launch(advance, out.data);
    MUST(calls->release_queue(queue));
    launch(advance, out.data);
    for (int time = 0; time < 2; time++) advance_words(out.expected);
    out.check("counted");
}

// A queue is stopped that waits for what never happens.
static void inactivated() {
    Out out;
    hsa_queue_t* queue = nullptr;
    hsa_agent_t gpu = calls->gpu();
    auto create = function<decltype(&hsa_queue_create)>("hsa_queue_create");
    MUST(create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
    hsa_signal_t never;
    MUST(function<decltype(&hsa_signal_create)>("hsa_signal_create")(1, 0, nullptr, &never));
    auto packets = static_cast<hsa_barrier_and_packet_t*>(queue->base_address);
    std::memset(packets, 0, 2 * sizeof *packets);
    packets[0].dep_signal[0] = never;
    // Behind it something of which only the device would know what it does.
    uint16_t headers[] = {HSA_PACKET_TYPE_BARRIER_AND, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER};
    for (int i : {1, 0}) __atomic_store_n(&packets[i].header, headers[i], __ATOMIC_RELEASE);
    function<decltype(&hsa_queue_store_write_index_screlease)>("hsa_queue_store_write_index_screlease")(queue, 2);
    function<decltype(&hsa_signal_store_screlease)>("hsa_signal_store_screlease")(queue->doorbell_signal, 1);
    MUST(function<decltype(&hsa_queue_inactivate)>("hsa_queue_inactivate")(queue));
    for (int time = 0; time < 2; time++) {
        launch(advance, out.data);
        advance_words(out.expected);
    }
    out.check("inactivated");
    MUST(function<decltype(&hsa_queue_destroy)>("hsa_queue_destroy")(queue));
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

// A call that writes an image, which lies in memory of the program's, between two launches.
static void written(hsa_status_t (*write)(uint64_t, uint32_t)) {
    Out out;
    launch(advance, out.data);
    for (uint32_t& word : out.expected) word = next_word(word);
    MUST(write(uint64_t(out.data), 77));
    out.expected[0] = 77;
    launch(advance, out.data);
    for (uint32_t& word : out.expected) word = next_word(word);
    out.check("written");
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
