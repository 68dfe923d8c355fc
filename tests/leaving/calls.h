// Calls that write the program's memory, or make and stop queues.
#pragma once
#include "cases.h"

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
