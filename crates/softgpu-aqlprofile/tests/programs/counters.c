// A profiler's way through the real ROCr: its extension table, vendor packets on its queues, values known by hand.
// Written against ROCm's own header, so that the interface is checked by the other side's declarations.
// Usage: counters straight.co
#include "check.h"
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <inttypes.h>

typedef hsa_ven_amd_aqlprofile_event_t event_t;
typedef hsa_ven_amd_aqlprofile_profile_t profile_t;
typedef hsa_ext_amd_aql_pm4_packet_t vendor_t;

static hsa_ven_amd_aqlprofile_1_00_pfn_t api;
static hsa_queue_t *queue;
static hsa_status_t queue_status;
static uint64_t kernel;

// Block numbers of the interface; 0x534f is the software GPU's own.
enum { GRBM = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM, SPI = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SPI,
       SQ = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, TCC = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC,
       TCP = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCP, SOFT = 0x534f };

static struct { const char *name; uint32_t block, event, instances; uint64_t expected[2]; } known[] = {
    // Dispatch 0: 1000 work-items in groups of 256, so 16 waves, the last with 40 lanes. Dispatch 1: 64 work-items.
    {"SQ_WAVES", SQ, 4, 1, {16, 1}},
    {"SQ_ITEMS", SQ, 14, 1, {1000, 64}},
    {"SQ_INSTS", SQ, 25, 1, {16 * 12, 12}},
    {"SQ_INSTS_VALU", SQ, 26, 1, {16 * 5, 5}},
    {"SQ_INSTS_SALU", SQ, 56, 1, {16, 1}},
    {"SQ_INSTS_SMEM", SQ, 57, 1, {16, 1}},
    {"SQ_INSTS_VMEM_RD", SQ, 54, 1, {16, 1}},
    {"SQ_THREAD_CYCLES_VALU", SQ, 113, 1, {5 * 1000, 5 * 64}},
    {"SPI_CSN_NUM_THREADGROUPS", SPI, 49, 1, {4, 1}},
    // Lines of 64 bytes: 4000 bytes from an aligned address are 63 of them.
    {"TCC_READ", TCC, 12, 32, {63, 4}},
    {"TCC_WRITE", TCC, 13, 32, {63, 4}},
    {"TCC_ATOMIC", TCC, 14, 32, {0, 0}},
    {"TCP_TOTAL_ACCESSES", TCP, 29, 16, {126, 8}},
    {"SOFT_GLOBAL_READ_BYTES", SOFT, 0, 1, {4000, 256}},
    {"SOFT_GLOBAL_WRITE_BYTES", SOFT, 1, 1, {4000, 256}},
};
#define KNOWN (sizeof known / sizeof *known)

static event_t events[1024];
static uint32_t event_count;

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data) { queue_status = status; }

static const char *sentence(void) {
    const char *text = NULL;
    HSA(api.hsa_ven_amd_aqlprofile_error_string(&text));
    return text;
}

static profile_t profile_of(const event_t *list, uint32_t count) {
    profile_t profile = {.agent = gpu, .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC, .events = list, .event_count = count};
    uint32_t commands = 0, output = 0;
    HSA(api.hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE, &commands));
    HSA(api.hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE, &output));
    CHECK(commands > 0 && output > 0);
    profile.command_buffer.ptr = host_alloc(commands);
    profile.command_buffer.size = commands;
    profile.output_buffer.ptr = host_alloc(output);
    profile.output_buffer.size = output;
    memset(profile.output_buffer.ptr, 0xa5, output);
    return profile;
}

static void submit_and_wait(const void *packet, uint16_t type, hsa_signal_t done) {
    submit(queue, packet, type | 1 << HSA_PACKET_HEADER_BARRIER |
           HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
           HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    CHECK(zero_within(done, 60));
    HSA(hsa_signal_destroy(done));
}

static void vendor(vendor_t packet) {
    packet.completion_signal = signal_of(1);
    submit_and_wait(&packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, packet.completion_signal);
}

static void reading(const profile_t *profile) {
    vendor_t packet = {0};
    HSA(api.hsa_ven_amd_aqlprofile_read(profile, &packet));
    vendor(packet);
}

static hsa_status_t add(hsa_ven_amd_aqlprofile_info_type_t type, hsa_ven_amd_aqlprofile_info_data_t *data, void *user) {
    CHECK(type == HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA && data->pmc_data.result != 0xa5a5a5a5a5a5a5a5);
    uint64_t *sums = user;
    for (size_t i = 0; i < KNOWN; i++) {
        if (data->pmc_data.event.block_name == known[i].block && data->pmc_data.event.counter_id == known[i].event)
            sums[i] += data->pmc_data.result;
    }
    return HSA_STATUS_SUCCESS;
}

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    CHECK(file);
    static char code[1 << 16];
    size_t bytes = fread(code, 1, sizeof code, file);
    fclose(file);
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    HSA(hsa_code_object_reader_create_from_memory(code, bytes, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    HSA(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    HSA(hsa_executable_freeze(executable, NULL));
    HSA(hsa_executable_get_symbol_by_name(executable, "straight.kd", &gpu, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel));
}

static void dispatch(uint32_t items) {
    uint32_t *source = host_alloc(items * 4), *target = host_alloc(items * 4);
    for (uint32_t i = 0; i < items; i++) source[i] = i * 7, target[i] = 0xa5a5a5a5;
    void **arguments = host_alloc(16);
    arguments[0] = source;
    arguments[1] = target;
    hsa_kernel_dispatch_packet_t packet = {.setup = 1, .workgroup_size_x = 256, .workgroup_size_y = 1,
        .workgroup_size_z = 1, .grid_size_x = items, .grid_size_y = 1, .grid_size_z = 1, .kernel_object = kernel,
        .kernarg_address = arguments, .completion_signal = signal_of(1)};
    submit_and_wait(&packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, packet.completion_signal);
    for (uint32_t i = 0; i < items; i++) CHECK(target[i] == 3 * (i * 7 + 1));
}

static void slots_limit(void) {
    const uint32_t nine[] = {2, 3, 4, 14, 25, 26, 53, 54, 55};
    event_t of_sq[9];
    for (int i = 0; i < 9; i++) of_sq[i] = (event_t){SQ, 0, nine[i]};
    profile_t profile = profile_of(of_sq, 8);
    vendor_t packet = {0};
    HSA(api.hsa_ven_amd_aqlprofile_start(&profile, &packet));
    profile.event_count = 9;
    CHECK(api.hsa_ven_amd_aqlprofile_start(&profile, &packet) != HSA_STATUS_SUCCESS);
    CHECK(strstr(sentence(), "8 slots"));
    uint32_t slots = 0;
    HSA(api.hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS, &slots));
    CHECK(slots == 8);
    bool valid = true;
    event_t stall = {SQ, 0, 85};
    HSA(api.hsa_ven_amd_aqlprofile_validate_event(gpu, &stall, &valid));
    CHECK(!valid);
    CHECK(api.hsa_ven_amd_aqlprofile_validate_event(cpu, of_sq, &valid) == HSA_STATUS_ERROR_INVALID_AGENT && !valid);
}

// Packets that a library for the hardware would write are a queue error here, never a completion.
static void foreign_commands_fail(const profile_t *profile) {
    vendor_t packet = {0};
    HSA(api.hsa_ven_amd_aqlprofile_stop(profile, &packet));
    uint32_t *list = profile->command_buffer.ptr;
    uint32_t words[16];
    memcpy(words, &packet, sizeof words);
    CHECK(words[2] >= (uint32_t)(uintptr_t)list);
    list = (uint32_t *)((uintptr_t)words[2] | (uintptr_t)words[3] << 32);
    list[0] = 0xc0017900; // SET_UCONFIG_REG
    packet.completion_signal = signal_of(1);
    submit(queue, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER);
    for (int i = 0; i < 600 && queue_status == HSA_STATUS_SUCCESS; i++)
        hsa_signal_wait_scacquire(packet.completion_signal, HSA_SIGNAL_CONDITION_EQ, 0, 50000000, HSA_WAIT_STATE_BLOCKED);
    CHECK(queue_status != HSA_STATUS_SUCCESS && hsa_signal_load_relaxed(packet.completion_signal) == 1);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    start();
    HSA(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, hsa_ven_amd_aqlprofile_VERSION_MAJOR,
                                             sizeof api, &api));
    CHECK(api.hsa_ven_amd_aqlprofile_version_major() >= 1);
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, on_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    load(argv[1]);
    slots_limit();
    for (size_t i = 0; i < KNOWN; i++)
        for (uint32_t k = 0; k < known[i].instances; k++) events[event_count++] = (event_t){known[i].block, k, known[i].event};

    profile_t readings[4];
    vendor_t begin = {0}, unused = {0}, end = {0};
    for (int i = 0; i < 4; i++) {
        readings[i] = profile_of(events, event_count);
        HSA(api.hsa_ven_amd_aqlprofile_start(&readings[i], i ? &unused : &begin));
    }
    HSA(api.hsa_ven_amd_aqlprofile_stop(&readings[0], &end));
    dispatch(300); // not counted
    vendor(begin);
    reading(&readings[0]);
    dispatch(1000);
    reading(&readings[1]);
    dispatch(64);
    reading(&readings[2]);
    vendor(end);
    dispatch(300); // not counted
    reading(&readings[3]);

    uint64_t sums[4][KNOWN] = {0};
    for (int i = 0; i < 4; i++) HSA(api.hsa_ven_amd_aqlprofile_iterate_data(&readings[i], add, sums[i]));
    int wrong = 0;
    for (size_t i = 0; i < KNOWN; i++) {
        uint64_t got[2] = {sums[1][i] - sums[0][i], sums[2][i] - sums[1][i]};
        bool right = sums[0][i] == 0 && got[0] == known[i].expected[0] && got[1] == known[i].expected[1] &&
                     sums[3][i] == sums[2][i];
        wrong += !right;
        printf("%-5s %s: %" PRIu64 " %" PRIu64 ", expected %" PRIu64 " %" PRIu64 "\n", right ? "ok" : "WRONG",
               known[i].name, got[0], got[1], known[i].expected[0], known[i].expected[1]);
    }
    CHECK(wrong == 0 && queue_status == HSA_STATUS_SUCCESS);
    foreign_commands_fail(&readings[0]);
    puts("counters: all checks passed");
    return 0;
}
