; A straight line: every wave executes each of these instructions exactly once, so a hand can count them.
; Arguments: source, destination. One 32-bit word a work-item, work-groups of 256: destination = 3 * (source + 1).
;
; vector ALU 5 · scalar ALU 1 · scalar memory 1 · load 1 · store 1 · waits 2 · end 1 = 12
    .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
    .text
    .globl straight
    .p2align 8
    .type straight,@function
straight:
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_and_b32_e32 v0, 0x3ff, v0
    s_lshl_b32 s2, s2, 8
    v_add_u32_e32 v0, s2, v0
    v_lshlrev_b32_e32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v1, v0, s[4:5]
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v1, 1, v1
    v_mul_lo_u32 v1, v1, 3
    global_store_dword v0, v1, s[6:7]
    s_endpgm
.Lend:
    .size straight, .Lend-straight

    .rodata
    .p2align 6
    .amdhsa_kernel straight
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_system_sgpr_workgroup_id_x 1
        .amdhsa_system_vgpr_workitem_id 0
        .amdhsa_next_free_vgpr 4
        .amdhsa_next_free_sgpr 16
        .amdhsa_accum_offset 4
        .amdhsa_kernarg_size 16
    .end_amdhsa_kernel

    .amdgpu_metadata
---
amdhsa.version: [ 1, 1 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.kernels:
  - .name: straight
    .symbol: straight.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
...
    .end_amdgpu_metadata
