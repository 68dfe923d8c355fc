// Instructions of gfx90a, for round trips through the assembler.
// sop2
s_add_u32 s4, s12, s8
s_sub_u32 s4, s12, s8
s_add_i32 s4, s12, s8
s_sub_i32 s4, s12, s8
s_addc_u32 s4, s12, s8
s_subb_u32 s4, s12, s8
s_min_i32 s4, s12, s8
s_min_u32 s4, s12, s8
s_max_i32 s4, s12, s8
s_max_u32 s4, s12, s8
s_cselect_b32 s4, s12, s8
s_cselect_b64 s[4:5], s[12:13], s[8:9]
s_and_b32 s4, s12, s8
s_and_b64 s[4:5], s[12:13], s[8:9]
s_or_b32 s4, s12, s8
s_or_b64 s[4:5], s[12:13], s[8:9]
s_xor_b32 s4, s12, s8
s_xor_b64 s[4:5], s[12:13], s[8:9]
s_andn2_b32 s4, s12, s8
s_andn2_b64 s[4:5], s[12:13], s[8:9]
s_orn2_b32 s4, s12, s8
s_orn2_b64 s[4:5], s[12:13], s[8:9]
s_nand_b32 s4, s12, s8
s_nand_b64 s[4:5], s[12:13], s[8:9]
s_nor_b32 s4, s12, s8
s_nor_b64 s[4:5], s[12:13], s[8:9]
s_xnor_b32 s4, s12, s8
s_xnor_b64 s[4:5], s[12:13], s[8:9]
s_lshl_b32 s4, s12, s8
s_lshl_b64 s[4:5], s[12:13], s8
s_lshr_b32 s4, s12, s8
s_lshr_b64 s[4:5], s[12:13], s8
s_ashr_i32 s4, s12, s8
s_ashr_i64 s[4:5], s[12:13], s8
s_bfm_b32 s4, s12, s8
s_bfm_b64 s[4:5], s12, s8
s_mul_i32 s4, s12, s8
s_bfe_u32 s4, s12, s8
s_bfe_i32 s4, s12, s8
s_bfe_u64 s[4:5], s[12:13], s8
s_bfe_i64 s[4:5], s[12:13], s8
s_cbranch_g_fork s[12:13], s[8:9]
s_absdiff_i32 s4, s12, s8
s_rfe_restore_b64 s[12:13], s8
s_mul_hi_u32 s4, s12, s8
s_mul_hi_i32 s4, s12, s8
s_lshl1_add_u32 s4, s12, s8
s_lshl2_add_u32 s4, s12, s8
s_lshl3_add_u32 s4, s12, s8
s_lshl4_add_u32 s4, s12, s8
s_pack_ll_b32_b16 s4, s12, s8
s_pack_lh_b32_b16 s4, s12, s8
s_pack_hh_b32_b16 s4, s12, s8
// sopk
s_movk_i32 s4, 0x1
s_cmovk_i32 s4, 0x1
s_cmpk_eq_i32 s4, 0x1
s_cmpk_lg_i32 s4, 0x1
s_cmpk_gt_i32 s4, 0x1
s_cmpk_ge_i32 s4, 0x1
s_cmpk_lt_i32 s4, 0x1
s_cmpk_le_i32 s4, 0x1
s_cmpk_eq_u32 s4, 0x1
s_cmpk_lg_u32 s4, 0x1
s_cmpk_gt_u32 s4, 0x1
s_cmpk_ge_u32 s4, 0x1
s_cmpk_lt_u32 s4, 0x1
s_cmpk_le_u32 s4, 0x1
s_addk_i32 s4, 0x1
s_mulk_i32 s4, 0x1
s_cbranch_i_fork s[4:5], 1
s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 1)
s_setreg_b32 hwreg(HW_REG_MODE, 0, 1), s4
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 1), 0x1234
s_call_b64 s[4:5], 1
// sop1
s_mov_b32 s4, s12
s_mov_b64 s[4:5], s[12:13]
s_cmov_b32 s4, s12
s_cmov_b64 s[4:5], s[12:13]
s_not_b32 s4, s12
s_not_b64 s[4:5], s[12:13]
s_wqm_b32 s4, s12
s_wqm_b64 s[4:5], s[12:13]
s_brev_b32 s4, s12
s_brev_b64 s[4:5], s[12:13]
s_bcnt0_i32_b32 s4, s12
s_bcnt0_i32_b64 s4, s[12:13]
s_bcnt1_i32_b32 s4, s12
s_bcnt1_i32_b64 s4, s[12:13]
s_ff0_i32_b32 s4, s12
s_ff0_i32_b64 s4, s[12:13]
s_ff1_i32_b32 s4, s12
s_ff1_i32_b64 s4, s[12:13]
s_flbit_i32_b32 s4, s12
s_flbit_i32_b64 s4, s[12:13]
s_flbit_i32 s4, s12
s_flbit_i32_i64 s4, s[12:13]
s_sext_i32_i8 s4, s12
s_sext_i32_i16 s4, s12
s_bitset0_b32 s4, s12
s_bitset0_b64 s[4:5], s12
s_bitset1_b32 s4, s12
s_bitset1_b64 s[4:5], s12
s_getpc_b64 s[4:5]
s_setpc_b64 s[12:13]
s_swappc_b64 s[4:5], s[12:13]
s_rfe_b64 s[12:13]
s_and_saveexec_b64 s[4:5], s[12:13]
s_or_saveexec_b64 s[4:5], s[12:13]
s_xor_saveexec_b64 s[4:5], s[12:13]
s_andn2_saveexec_b64 s[4:5], s[12:13]
s_orn2_saveexec_b64 s[4:5], s[12:13]
s_nand_saveexec_b64 s[4:5], s[12:13]
s_nor_saveexec_b64 s[4:5], s[12:13]
s_xnor_saveexec_b64 s[4:5], s[12:13]
s_quadmask_b32 s4, s12
s_quadmask_b64 s[4:5], s[12:13]
s_movrels_b32 s4, s12
s_movrels_b64 s[4:5], s[12:13]
s_movreld_b32 s4, s12
s_movreld_b64 s[4:5], s[12:13]
s_cbranch_join s12
s_abs_i32 s4, s12
s_set_gpr_idx_idx s12
s_andn1_saveexec_b64 s[4:5], s[12:13]
s_orn1_saveexec_b64 s[4:5], s[12:13]
s_andn1_wrexec_b64 s[4:5], s[12:13]
s_andn2_wrexec_b64 s[4:5], s[12:13]
s_bitreplicate_b64_b32 s[4:5], s12
// sopc
s_cmp_eq_i32 s12, s8
s_cmp_lg_i32 s12, s8
s_cmp_gt_i32 s12, s8
s_cmp_ge_i32 s12, s8
s_cmp_lt_i32 s12, s8
s_cmp_le_i32 s12, s8
s_cmp_eq_u32 s12, s8
s_cmp_lg_u32 s12, s8
s_cmp_gt_u32 s12, s8
s_cmp_ge_u32 s12, s8
s_cmp_lt_u32 s12, s8
s_cmp_le_u32 s12, s8
s_bitcmp0_b32 s12, s8
s_bitcmp1_b32 s12, s8
s_bitcmp0_b64 s[12:13], s8
s_bitcmp1_b64 s[12:13], s8
s_setvskip s12, s8
s_set_gpr_idx_on s12, gpr_idx(DST)
s_cmp_eq_u64 s[12:13], s[8:9]
s_cmp_lg_u64 s[12:13], s[8:9]
// sopp
s_nop 3
s_endpgm 3
s_branch 3
s_wakeup
s_cbranch_scc0 3
s_cbranch_scc1 3
s_cbranch_vccz 3
s_cbranch_vccnz 3
s_cbranch_execz 3
s_cbranch_execnz 3
s_barrier
s_setkill 3
s_waitcnt vmcnt(3) expcnt(0) lgkmcnt(0)
s_sethalt 3
s_sleep 3
s_setprio 3
s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)
s_sendmsghalt sendmsg(MSG_GS_DONE, GS_OP_NOP)
s_trap 3
s_icache_inv
s_incperflevel 3
s_decperflevel 3
s_ttracedata
s_cbranch_cdbgsys 3
s_cbranch_cdbguser 3
s_cbranch_cdbgsys_or_user 3
s_cbranch_cdbgsys_and_user 3
s_endpgm_saved
s_set_gpr_idx_off
s_set_gpr_idx_mode gpr_idx(SRC0,SRC1)
s_endpgm_ordered_ps_done
// smem
s_load_dword s8, s[4:5], 0x10
s_load_dwordx2 s[8:9], s[4:5], 0x10
s_load_dwordx4 s[8:11], s[4:5], 0x10
s_load_dwordx8 s[8:15], s[4:5], 0x10
s_load_dwordx16 s[8:23], s[4:5], 0x10
s_scratch_load_dword s8, s[4:5], 0x10
s_scratch_load_dwordx2 s[8:9], s[4:5], 0x10
s_scratch_load_dwordx4 s[8:11], s[4:5], 0x10
s_buffer_load_dword s8, s[4:7], 0x10
s_buffer_load_dwordx2 s[8:9], s[4:7], 0x10
s_buffer_load_dwordx4 s[8:11], s[4:7], 0x10
s_buffer_load_dwordx8 s[8:15], s[4:7], 0x10
s_buffer_load_dwordx16 s[8:23], s[4:7], 0x10
s_store_dword s8, s[4:5], 0x10
s_store_dwordx2 s[8:9], s[4:5], 0x10
s_store_dwordx4 s[8:11], s[4:5], 0x10
s_scratch_store_dword s8, s[4:5], 0x10
s_scratch_store_dwordx2 s[8:9], s[4:5], 0x10
s_scratch_store_dwordx4 s[8:11], s[4:5], 0x10
s_buffer_store_dword s8, s[4:7], 0x10
s_buffer_store_dwordx2 s[8:9], s[4:7], 0x10
s_buffer_store_dwordx4 s[8:11], s[4:7], 0x10
s_dcache_inv
s_dcache_wb
s_dcache_inv_vol
s_dcache_wb_vol
s_memtime s[8:9]
s_memrealtime s[8:9]
s_atc_probe 8, s[4:5], 0x10
s_atc_probe_buffer 8, s[4:7], 0x10
s_dcache_discard s[4:5], 0x10
s_dcache_discard_x2 s[4:5], 0x10
s_buffer_atomic_swap s8, s[4:7], 0x10
s_buffer_atomic_cmpswap s[8:9], s[4:7], 0x10
s_buffer_atomic_add s8, s[4:7], 0x10
s_buffer_atomic_sub s8, s[4:7], 0x10
s_buffer_atomic_smin s8, s[4:7], 0x10
s_buffer_atomic_umin s8, s[4:7], 0x10
s_buffer_atomic_smax s8, s[4:7], 0x10
s_buffer_atomic_umax s8, s[4:7], 0x10
s_buffer_atomic_and s8, s[4:7], 0x10
s_buffer_atomic_or s8, s[4:7], 0x10
s_buffer_atomic_xor s8, s[4:7], 0x10
s_buffer_atomic_inc s8, s[4:7], 0x10
s_buffer_atomic_dec s8, s[4:7], 0x10
s_buffer_atomic_swap_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_cmpswap_x2 s[8:11], s[4:7], 0x10
s_buffer_atomic_add_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_sub_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_smin_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_umin_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_smax_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_umax_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_and_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_or_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_xor_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_inc_x2 s[8:9], s[4:7], 0x10
s_buffer_atomic_dec_x2 s[8:9], s[4:7], 0x10
s_atomic_swap s8, s[4:5], 0x10
s_atomic_cmpswap s[8:9], s[4:5], 0x10
s_atomic_add s8, s[4:5], 0x10
s_atomic_sub s8, s[4:5], 0x10
s_atomic_smin s8, s[4:5], 0x10
s_atomic_umin s8, s[4:5], 0x10
s_atomic_smax s8, s[4:5], 0x10
s_atomic_umax s8, s[4:5], 0x10
s_atomic_and s8, s[4:5], 0x10
s_atomic_or s8, s[4:5], 0x10
s_atomic_xor s8, s[4:5], 0x10
s_atomic_inc s8, s[4:5], 0x10
s_atomic_dec s8, s[4:5], 0x10
s_atomic_swap_x2 s[8:9], s[4:5], 0x10
s_atomic_cmpswap_x2 s[8:11], s[4:5], 0x10
s_atomic_add_x2 s[8:9], s[4:5], 0x10
s_atomic_sub_x2 s[8:9], s[4:5], 0x10
s_atomic_smin_x2 s[8:9], s[4:5], 0x10
s_atomic_umin_x2 s[8:9], s[4:5], 0x10
s_atomic_smax_x2 s[8:9], s[4:5], 0x10
s_atomic_umax_x2 s[8:9], s[4:5], 0x10
s_atomic_and_x2 s[8:9], s[4:5], 0x10
s_atomic_or_x2 s[8:9], s[4:5], 0x10
s_atomic_xor_x2 s[8:9], s[4:5], 0x10
s_atomic_inc_x2 s[8:9], s[4:5], 0x10
s_atomic_dec_x2 s[8:9], s[4:5], 0x10
// vop1
v_nop
v_mov_b32_e32 v4, v12
v_readfirstlane_b32 s4, v12
v_cvt_i32_f64_e32 v4, v[12:13]
v_cvt_f64_i32_e32 v[4:5], v12
v_cvt_f32_i32_e32 v4, v12
v_cvt_f32_u32_e32 v4, v12
v_cvt_u32_f32_e32 v4, v12
v_cvt_i32_f32_e32 v4, v12
v_cvt_f16_f32_e32 v4, v12
v_cvt_f32_f16_e32 v4, v12
v_cvt_rpi_i32_f32_e32 v4, v12
v_cvt_flr_i32_f32_e32 v4, v12
v_cvt_off_f32_i4_e32 v4, v12
v_cvt_f32_f64_e32 v4, v[12:13]
v_cvt_f64_f32_e32 v[4:5], v12
v_cvt_f32_ubyte0_e32 v4, v12
v_cvt_f32_ubyte1_e32 v4, v12
v_cvt_f32_ubyte2_e32 v4, v12
v_cvt_f32_ubyte3_e32 v4, v12
v_cvt_u32_f64_e32 v4, v[12:13]
v_cvt_f64_u32_e32 v[4:5], v12
v_trunc_f64_e32 v[4:5], v[12:13]
v_ceil_f64_e32 v[4:5], v[12:13]
v_rndne_f64_e32 v[4:5], v[12:13]
v_floor_f64_e32 v[4:5], v[12:13]
v_fract_f32_e32 v4, v12
v_trunc_f32_e32 v4, v12
v_ceil_f32_e32 v4, v12
v_rndne_f32_e32 v4, v12
v_floor_f32_e32 v4, v12
v_exp_f32_e32 v4, v12
v_log_f32_e32 v4, v12
v_rcp_f32_e32 v4, v12
v_rcp_iflag_f32_e32 v4, v12
v_rsq_f32_e32 v4, v12
v_rcp_f64_e32 v[4:5], v[12:13]
v_rsq_f64_e32 v[4:5], v[12:13]
v_sqrt_f32_e32 v4, v12
v_sqrt_f64_e32 v[4:5], v[12:13]
v_sin_f32_e32 v4, v12
v_cos_f32_e32 v4, v12
v_not_b32_e32 v4, v12
v_bfrev_b32_e32 v4, v12
v_ffbh_u32_e32 v4, v12
v_ffbl_b32_e32 v4, v12
v_ffbh_i32_e32 v4, v12
v_frexp_exp_i32_f64_e32 v4, v[12:13]
v_frexp_mant_f64_e32 v[4:5], v[12:13]
v_fract_f64_e32 v[4:5], v[12:13]
v_frexp_exp_i32_f32_e32 v4, v12
v_frexp_mant_f32_e32 v4, v12
v_clrexcp
v_screen_partition_4se_b32_e32 v4, v12
v_cvt_f16_u16_e32 v4, v12
v_cvt_f16_i16_e32 v4, v12
v_cvt_u16_f16_e32 v4, v12
v_cvt_i16_f16_e32 v4, v12
v_rcp_f16_e32 v4, v12
v_sqrt_f16_e32 v4, v12
v_rsq_f16_e32 v4, v12
v_log_f16_e32 v4, v12
v_exp_f16_e32 v4, v12
v_frexp_mant_f16_e32 v4, v12
v_frexp_exp_i16_f16_e32 v4, v12
v_floor_f16_e32 v4, v12
v_ceil_f16_e32 v4, v12
v_trunc_f16_e32 v4, v12
v_rndne_f16_e32 v4, v12
v_fract_f16_e32 v4, v12
v_sin_f16_e32 v4, v12
v_cos_f16_e32 v4, v12
v_exp_legacy_f32_e32 v4, v12
v_log_legacy_f32_e32 v4, v12
v_cvt_norm_i16_f16_e32 v4, v12
v_cvt_norm_u16_f16_e32 v4, v12
v_sat_pk_u8_i16_e32 v4, v12
v_swap_b32 v4, v12
v_accvgpr_mov_b32 a4, a12
// vop2
v_cndmask_b32_e32 v4, v12, v8, vcc
v_add_f32_e32 v4, v12, v8
v_sub_f32_e32 v4, v12, v8
v_subrev_f32_e32 v4, v12, v8
v_fmac_f64_e32 v[4:5], v[12:13], v[8:9]
v_mul_f32_e32 v4, v12, v8
v_mul_i32_i24_e32 v4, v12, v8
v_mul_hi_i32_i24_e32 v4, v12, v8
v_mul_u32_u24_e32 v4, v12, v8
v_mul_hi_u32_u24_e32 v4, v12, v8
v_min_f32_e32 v4, v12, v8
v_max_f32_e32 v4, v12, v8
v_min_i32_e32 v4, v12, v8
v_max_i32_e32 v4, v12, v8
v_min_u32_e32 v4, v12, v8
v_max_u32_e32 v4, v12, v8
v_lshrrev_b32_e32 v4, v12, v8
v_ashrrev_i32_e32 v4, v12, v8
v_lshlrev_b32_e32 v4, v12, v8
v_and_b32_e32 v4, v12, v8
v_or_b32_e32 v4, v12, v8
v_xor_b32_e32 v4, v12, v8
v_mac_f32_e32 v4, v12, v8
v_add_co_u32_e32 v4, vcc, v12, v8
v_sub_co_u32_e32 v4, vcc, v12, v8
v_subrev_co_u32_e32 v4, vcc, v12, v8
v_addc_co_u32_e32 v4, vcc, v12, v8, vcc
v_subb_co_u32_e32 v4, vcc, v12, v8, vcc
v_subbrev_co_u32_e32 v4, vcc, v12, v8, vcc
v_add_f16_e32 v4, v12, v8
v_sub_f16_e32 v4, v12, v8
v_subrev_f16_e32 v4, v12, v8
v_mul_f16_e32 v4, v12, v8
v_mac_f16_e32 v4, v12, v8
v_add_u16_e32 v4, v12, v8
v_sub_u16_e32 v4, v12, v8
v_subrev_u16_e32 v4, v12, v8
v_mul_lo_u16_e32 v4, v12, v8
v_lshlrev_b16_e32 v4, v12, v8
v_lshrrev_b16_e32 v4, v12, v8
v_ashrrev_i16_e32 v4, v12, v8
v_max_f16_e32 v4, v12, v8
v_min_f16_e32 v4, v12, v8
v_max_u16_e32 v4, v12, v8
v_max_i16_e32 v4, v12, v8
v_min_u16_e32 v4, v12, v8
v_min_i16_e32 v4, v12, v8
v_ldexp_f16_e32 v4, v12, v8
v_add_u32_e32 v4, v12, v8
v_sub_u32_e32 v4, v12, v8
v_subrev_u32_e32 v4, v12, v8
v_dot2c_f32_f16_e32 v4, v12, v8
v_dot2c_i32_i16_e32 v4, v12, v8
v_dot4c_i32_i8_e32 v4, v12, v8
v_dot8c_i32_i4_e32 v4, v12, v8
v_fmac_f32_e32 v4, v12, v8
v_pk_fmac_f16_e32 v4, v12, v8
v_xnor_b32_e32 v4, v12, v8
// vopc
v_cmp_class_f32_e32 vcc, v12, v8
v_cmpx_class_f32_e32 vcc, v12, v8
v_cmp_class_f64_e32 vcc, v[12:13], v8
v_cmpx_class_f64_e32 vcc, v[12:13], v8
v_cmp_class_f16_e32 vcc, v12, v8
v_cmpx_class_f16_e32 vcc, v12, v8
v_cmp_f_f16_e32 vcc, v12, v8
v_cmp_lt_f16_e32 vcc, v12, v8
v_cmp_eq_f16_e32 vcc, v12, v8
v_cmp_le_f16_e32 vcc, v12, v8
v_cmp_gt_f16_e32 vcc, v12, v8
v_cmp_lg_f16_e32 vcc, v12, v8
v_cmp_ge_f16_e32 vcc, v12, v8
v_cmp_o_f16_e32 vcc, v12, v8
v_cmp_u_f16_e32 vcc, v12, v8
v_cmp_nge_f16_e32 vcc, v12, v8
v_cmp_nlg_f16_e32 vcc, v12, v8
v_cmp_ngt_f16_e32 vcc, v12, v8
v_cmp_nle_f16_e32 vcc, v12, v8
v_cmp_neq_f16_e32 vcc, v12, v8
v_cmp_nlt_f16_e32 vcc, v12, v8
v_cmp_tru_f16_e32 vcc, v12, v8
v_cmpx_f_f16_e32 vcc, v12, v8
v_cmpx_lt_f16_e32 vcc, v12, v8
v_cmpx_eq_f16_e32 vcc, v12, v8
v_cmpx_le_f16_e32 vcc, v12, v8
v_cmpx_gt_f16_e32 vcc, v12, v8
v_cmpx_lg_f16_e32 vcc, v12, v8
v_cmpx_ge_f16_e32 vcc, v12, v8
v_cmpx_o_f16_e32 vcc, v12, v8
v_cmpx_u_f16_e32 vcc, v12, v8
v_cmpx_nge_f16_e32 vcc, v12, v8
v_cmpx_nlg_f16_e32 vcc, v12, v8
v_cmpx_ngt_f16_e32 vcc, v12, v8
v_cmpx_nle_f16_e32 vcc, v12, v8
v_cmpx_neq_f16_e32 vcc, v12, v8
v_cmpx_nlt_f16_e32 vcc, v12, v8
v_cmpx_tru_f16_e32 vcc, v12, v8
v_cmp_f_f32_e32 vcc, v12, v8
v_cmp_lt_f32_e32 vcc, v12, v8
v_cmp_eq_f32_e32 vcc, v12, v8
v_cmp_le_f32_e32 vcc, v12, v8
v_cmp_gt_f32_e32 vcc, v12, v8
v_cmp_lg_f32_e32 vcc, v12, v8
v_cmp_ge_f32_e32 vcc, v12, v8
v_cmp_o_f32_e32 vcc, v12, v8
v_cmp_u_f32_e32 vcc, v12, v8
v_cmp_nge_f32_e32 vcc, v12, v8
v_cmp_nlg_f32_e32 vcc, v12, v8
v_cmp_ngt_f32_e32 vcc, v12, v8
v_cmp_nle_f32_e32 vcc, v12, v8
v_cmp_neq_f32_e32 vcc, v12, v8
v_cmp_nlt_f32_e32 vcc, v12, v8
v_cmp_tru_f32_e32 vcc, v12, v8
v_cmpx_f_f32_e32 vcc, v12, v8
v_cmpx_lt_f32_e32 vcc, v12, v8
v_cmpx_eq_f32_e32 vcc, v12, v8
v_cmpx_le_f32_e32 vcc, v12, v8
v_cmpx_gt_f32_e32 vcc, v12, v8
v_cmpx_lg_f32_e32 vcc, v12, v8
v_cmpx_ge_f32_e32 vcc, v12, v8
v_cmpx_o_f32_e32 vcc, v12, v8
v_cmpx_u_f32_e32 vcc, v12, v8
v_cmpx_nge_f32_e32 vcc, v12, v8
v_cmpx_nlg_f32_e32 vcc, v12, v8
v_cmpx_ngt_f32_e32 vcc, v12, v8
v_cmpx_nle_f32_e32 vcc, v12, v8
v_cmpx_neq_f32_e32 vcc, v12, v8
v_cmpx_nlt_f32_e32 vcc, v12, v8
v_cmpx_tru_f32_e32 vcc, v12, v8
v_cmp_f_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_lt_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_eq_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_le_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_gt_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_lg_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_ge_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_o_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_u_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_nge_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_nlg_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_ngt_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_nle_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_neq_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_nlt_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_tru_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_f_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_lt_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_eq_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_le_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_gt_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_lg_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_ge_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_o_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_u_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_nge_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_nlg_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_ngt_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_nle_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_neq_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_nlt_f64_e32 vcc, v[12:13], v[8:9]
v_cmpx_tru_f64_e32 vcc, v[12:13], v[8:9]
v_cmp_f_i16_e32 vcc, v12, v8
v_cmp_lt_i16_e32 vcc, v12, v8
v_cmp_eq_i16_e32 vcc, v12, v8
v_cmp_le_i16_e32 vcc, v12, v8
v_cmp_gt_i16_e32 vcc, v12, v8
v_cmp_ne_i16_e32 vcc, v12, v8
v_cmp_ge_i16_e32 vcc, v12, v8
v_cmp_t_i16_e32 vcc, v12, v8
v_cmp_f_u16_e32 vcc, v12, v8
v_cmp_lt_u16_e32 vcc, v12, v8
v_cmp_eq_u16_e32 vcc, v12, v8
v_cmp_le_u16_e32 vcc, v12, v8
v_cmp_gt_u16_e32 vcc, v12, v8
v_cmp_ne_u16_e32 vcc, v12, v8
v_cmp_ge_u16_e32 vcc, v12, v8
v_cmp_t_u16_e32 vcc, v12, v8
v_cmpx_f_i16_e32 vcc, v12, v8
v_cmpx_lt_i16_e32 vcc, v12, v8
v_cmpx_eq_i16_e32 vcc, v12, v8
v_cmpx_le_i16_e32 vcc, v12, v8
v_cmpx_gt_i16_e32 vcc, v12, v8
v_cmpx_ne_i16_e32 vcc, v12, v8
v_cmpx_ge_i16_e32 vcc, v12, v8
v_cmpx_t_i16_e32 vcc, v12, v8
v_cmpx_f_u16_e32 vcc, v12, v8
v_cmpx_lt_u16_e32 vcc, v12, v8
v_cmpx_eq_u16_e32 vcc, v12, v8
v_cmpx_le_u16_e32 vcc, v12, v8
v_cmpx_gt_u16_e32 vcc, v12, v8
v_cmpx_ne_u16_e32 vcc, v12, v8
v_cmpx_ge_u16_e32 vcc, v12, v8
v_cmpx_t_u16_e32 vcc, v12, v8
v_cmp_f_i32_e32 vcc, v12, v8
v_cmp_lt_i32_e32 vcc, v12, v8
v_cmp_eq_i32_e32 vcc, v12, v8
v_cmp_le_i32_e32 vcc, v12, v8
v_cmp_gt_i32_e32 vcc, v12, v8
v_cmp_ne_i32_e32 vcc, v12, v8
v_cmp_ge_i32_e32 vcc, v12, v8
v_cmp_t_i32_e32 vcc, v12, v8
v_cmp_f_u32_e32 vcc, v12, v8
v_cmp_lt_u32_e32 vcc, v12, v8
v_cmp_eq_u32_e32 vcc, v12, v8
v_cmp_le_u32_e32 vcc, v12, v8
v_cmp_gt_u32_e32 vcc, v12, v8
v_cmp_ne_u32_e32 vcc, v12, v8
v_cmp_ge_u32_e32 vcc, v12, v8
v_cmp_t_u32_e32 vcc, v12, v8
v_cmpx_f_i32_e32 vcc, v12, v8
v_cmpx_lt_i32_e32 vcc, v12, v8
v_cmpx_eq_i32_e32 vcc, v12, v8
v_cmpx_le_i32_e32 vcc, v12, v8
v_cmpx_gt_i32_e32 vcc, v12, v8
v_cmpx_ne_i32_e32 vcc, v12, v8
v_cmpx_ge_i32_e32 vcc, v12, v8
v_cmpx_t_i32_e32 vcc, v12, v8
v_cmpx_f_u32_e32 vcc, v12, v8
v_cmpx_lt_u32_e32 vcc, v12, v8
v_cmpx_eq_u32_e32 vcc, v12, v8
v_cmpx_le_u32_e32 vcc, v12, v8
v_cmpx_gt_u32_e32 vcc, v12, v8
v_cmpx_ne_u32_e32 vcc, v12, v8
v_cmpx_ge_u32_e32 vcc, v12, v8
v_cmpx_t_u32_e32 vcc, v12, v8
v_cmp_f_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_lt_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_eq_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_le_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_gt_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_ne_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_ge_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_t_i64_e32 vcc, v[12:13], v[8:9]
v_cmp_f_u64_e32 vcc, v[12:13], v[8:9]
v_cmp_lt_u64_e32 vcc, v[12:13], v[8:9]
v_cmp_eq_u64_e32 vcc, v[12:13], v[8:9]
v_cmp_le_u64_e32 vcc, v[12:13], v[8:9]
v_cmp_gt_u64_e32 vcc, v[12:13], v[8:9]
v_cmp_ne_u64_e32 vcc, v[12:13], v[8:9]
v_cmp_ge_u64_e32 vcc, v[12:13], v[8:9]
v_cmp_t_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_f_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_lt_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_eq_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_le_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_gt_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_ne_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_ge_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_t_i64_e32 vcc, v[12:13], v[8:9]
v_cmpx_f_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_lt_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_eq_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_le_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_gt_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_ne_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_ge_u64_e32 vcc, v[12:13], v[8:9]
v_cmpx_t_u64_e32 vcc, v[12:13], v[8:9]
// vop3all
v_cmp_class_f32_e64 s[4:5], v8, v12
v_cmpx_class_f32_e64 s[4:5], v8, v12
v_cmp_class_f64_e64 s[4:5], v[8:9], v12
v_cmpx_class_f64_e64 s[4:5], v[8:9], v12
v_cmp_class_f16_e64 s[4:5], v8, v12
v_cmpx_class_f16_e64 s[4:5], v8, v12
v_cmp_f_f16_e64 s[4:5], v8, v12
v_cmp_lt_f16_e64 s[4:5], v8, v12
v_cmp_eq_f16_e64 s[4:5], v8, v12
v_cmp_le_f16_e64 s[4:5], v8, v12
v_cmp_gt_f16_e64 s[4:5], v8, v12
v_cmp_lg_f16_e64 s[4:5], v8, v12
v_cmp_ge_f16_e64 s[4:5], v8, v12
v_cmp_o_f16_e64 s[4:5], v8, v12
v_cmp_u_f16_e64 s[4:5], v8, v12
v_cmp_nge_f16_e64 s[4:5], v8, v12
v_cmp_nlg_f16_e64 s[4:5], v8, v12
v_cmp_ngt_f16_e64 s[4:5], v8, v12
v_cmp_nle_f16_e64 s[4:5], v8, v12
v_cmp_neq_f16_e64 s[4:5], v8, v12
v_cmp_nlt_f16_e64 s[4:5], v8, v12
v_cmp_tru_f16_e64 s[4:5], v8, v12
v_cmpx_f_f16_e64 s[4:5], v8, v12
v_cmpx_lt_f16_e64 s[4:5], v8, v12
v_cmpx_eq_f16_e64 s[4:5], v8, v12
v_cmpx_le_f16_e64 s[4:5], v8, v12
v_cmpx_gt_f16_e64 s[4:5], v8, v12
v_cmpx_lg_f16_e64 s[4:5], v8, v12
v_cmpx_ge_f16_e64 s[4:5], v8, v12
v_cmpx_o_f16_e64 s[4:5], v8, v12
v_cmpx_u_f16_e64 s[4:5], v8, v12
v_cmpx_nge_f16_e64 s[4:5], v8, v12
v_cmpx_nlg_f16_e64 s[4:5], v8, v12
v_cmpx_ngt_f16_e64 s[4:5], v8, v12
v_cmpx_nle_f16_e64 s[4:5], v8, v12
v_cmpx_neq_f16_e64 s[4:5], v8, v12
v_cmpx_nlt_f16_e64 s[4:5], v8, v12
v_cmpx_tru_f16_e64 s[4:5], v8, v12
v_cmp_f_f32_e64 s[4:5], v8, v12
v_cmp_lt_f32_e64 s[4:5], v8, v12
v_cmp_eq_f32_e64 s[4:5], v8, v12
v_cmp_le_f32_e64 s[4:5], v8, v12
v_cmp_gt_f32_e64 s[4:5], v8, v12
v_cmp_lg_f32_e64 s[4:5], v8, v12
v_cmp_ge_f32_e64 s[4:5], v8, v12
v_cmp_o_f32_e64 s[4:5], v8, v12
v_cmp_u_f32_e64 s[4:5], v8, v12
v_cmp_nge_f32_e64 s[4:5], v8, v12
v_cmp_nlg_f32_e64 s[4:5], v8, v12
v_cmp_ngt_f32_e64 s[4:5], v8, v12
v_cmp_nle_f32_e64 s[4:5], v8, v12
v_cmp_neq_f32_e64 s[4:5], v8, v12
v_cmp_nlt_f32_e64 s[4:5], v8, v12
v_cmp_tru_f32_e64 s[4:5], v8, v12
v_cmpx_f_f32_e64 s[4:5], v8, v12
v_cmpx_lt_f32_e64 s[4:5], v8, v12
v_cmpx_eq_f32_e64 s[4:5], v8, v12
v_cmpx_le_f32_e64 s[4:5], v8, v12
v_cmpx_gt_f32_e64 s[4:5], v8, v12
v_cmpx_lg_f32_e64 s[4:5], v8, v12
v_cmpx_ge_f32_e64 s[4:5], v8, v12
v_cmpx_o_f32_e64 s[4:5], v8, v12
v_cmpx_u_f32_e64 s[4:5], v8, v12
v_cmpx_nge_f32_e64 s[4:5], v8, v12
v_cmpx_nlg_f32_e64 s[4:5], v8, v12
v_cmpx_ngt_f32_e64 s[4:5], v8, v12
v_cmpx_nle_f32_e64 s[4:5], v8, v12
v_cmpx_neq_f32_e64 s[4:5], v8, v12
v_cmpx_nlt_f32_e64 s[4:5], v8, v12
v_cmpx_tru_f32_e64 s[4:5], v8, v12
v_cmp_f_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_lt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_eq_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_le_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_gt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_lg_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_ge_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_o_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_u_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_nge_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_nlg_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_ngt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_nle_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_neq_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_nlt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_tru_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_f_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_lt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_eq_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_le_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_gt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_lg_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_ge_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_o_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_u_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_nge_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_nlg_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_ngt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_nle_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_neq_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_nlt_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_tru_f64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_f_i16_e64 s[4:5], v8, v12
v_cmp_lt_i16_e64 s[4:5], v8, v12
v_cmp_eq_i16_e64 s[4:5], v8, v12
v_cmp_le_i16_e64 s[4:5], v8, v12
v_cmp_gt_i16_e64 s[4:5], v8, v12
v_cmp_ne_i16_e64 s[4:5], v8, v12
v_cmp_ge_i16_e64 s[4:5], v8, v12
v_cmp_t_i16_e64 s[4:5], v8, v12
v_cmp_f_u16_e64 s[4:5], v8, v12
v_cmp_lt_u16_e64 s[4:5], v8, v12
v_cmp_eq_u16_e64 s[4:5], v8, v12
v_cmp_le_u16_e64 s[4:5], v8, v12
v_cmp_gt_u16_e64 s[4:5], v8, v12
v_cmp_ne_u16_e64 s[4:5], v8, v12
v_cmp_ge_u16_e64 s[4:5], v8, v12
v_cmp_t_u16_e64 s[4:5], v8, v12
v_cmpx_f_i16_e64 s[4:5], v8, v12
v_cmpx_lt_i16_e64 s[4:5], v8, v12
v_cmpx_eq_i16_e64 s[4:5], v8, v12
v_cmpx_le_i16_e64 s[4:5], v8, v12
v_cmpx_gt_i16_e64 s[4:5], v8, v12
v_cmpx_ne_i16_e64 s[4:5], v8, v12
v_cmpx_ge_i16_e64 s[4:5], v8, v12
v_cmpx_t_i16_e64 s[4:5], v8, v12
v_cmpx_f_u16_e64 s[4:5], v8, v12
v_cmpx_lt_u16_e64 s[4:5], v8, v12
v_cmpx_eq_u16_e64 s[4:5], v8, v12
v_cmpx_le_u16_e64 s[4:5], v8, v12
v_cmpx_gt_u16_e64 s[4:5], v8, v12
v_cmpx_ne_u16_e64 s[4:5], v8, v12
v_cmpx_ge_u16_e64 s[4:5], v8, v12
v_cmpx_t_u16_e64 s[4:5], v8, v12
v_cmp_f_i32_e64 s[4:5], v8, v12
v_cmp_lt_i32_e64 s[4:5], v8, v12
v_cmp_eq_i32_e64 s[4:5], v8, v12
v_cmp_le_i32_e64 s[4:5], v8, v12
v_cmp_gt_i32_e64 s[4:5], v8, v12
v_cmp_ne_i32_e64 s[4:5], v8, v12
v_cmp_ge_i32_e64 s[4:5], v8, v12
v_cmp_t_i32_e64 s[4:5], v8, v12
v_cmp_f_u32_e64 s[4:5], v8, v12
v_cmp_lt_u32_e64 s[4:5], v8, v12
v_cmp_eq_u32_e64 s[4:5], v8, v12
v_cmp_le_u32_e64 s[4:5], v8, v12
v_cmp_gt_u32_e64 s[4:5], v8, v12
v_cmp_ne_u32_e64 s[4:5], v8, v12
v_cmp_ge_u32_e64 s[4:5], v8, v12
v_cmp_t_u32_e64 s[4:5], v8, v12
v_cmpx_f_i32_e64 s[4:5], v8, v12
v_cmpx_lt_i32_e64 s[4:5], v8, v12
v_cmpx_eq_i32_e64 s[4:5], v8, v12
v_cmpx_le_i32_e64 s[4:5], v8, v12
v_cmpx_gt_i32_e64 s[4:5], v8, v12
v_cmpx_ne_i32_e64 s[4:5], v8, v12
v_cmpx_ge_i32_e64 s[4:5], v8, v12
v_cmpx_t_i32_e64 s[4:5], v8, v12
v_cmpx_f_u32_e64 s[4:5], v8, v12
v_cmpx_lt_u32_e64 s[4:5], v8, v12
v_cmpx_eq_u32_e64 s[4:5], v8, v12
v_cmpx_le_u32_e64 s[4:5], v8, v12
v_cmpx_gt_u32_e64 s[4:5], v8, v12
v_cmpx_ne_u32_e64 s[4:5], v8, v12
v_cmpx_ge_u32_e64 s[4:5], v8, v12
v_cmpx_t_u32_e64 s[4:5], v8, v12
v_cmp_f_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_lt_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_eq_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_le_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_gt_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_ne_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_ge_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_t_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_f_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_lt_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_eq_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_le_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_gt_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_ne_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_ge_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmp_t_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_f_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_lt_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_eq_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_le_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_gt_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_ne_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_ge_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_t_i64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_f_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_lt_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_eq_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_le_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_gt_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_ne_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_ge_u64_e64 s[4:5], v[8:9], v[12:13]
v_cmpx_t_u64_e64 s[4:5], v[8:9], v[12:13]
v_add_f32_e64 v4, v8, v12
v_sub_f32_e64 v4, v8, v12
v_subrev_f32_e64 v4, v8, v12
v_fmac_f64_e64 v[4:5], v[8:9], v[12:13]
v_mul_f32_e64 v4, v8, v12
v_mul_i32_i24_e64 v4, v8, v12
v_mul_hi_i32_i24_e64 v4, v8, v12
v_mul_u32_u24_e64 v4, v8, v12
v_mul_hi_u32_u24_e64 v4, v8, v12
v_min_f32_e64 v4, v8, v12
v_max_f32_e64 v4, v8, v12
v_min_i32_e64 v4, v8, v12
v_max_i32_e64 v4, v8, v12
v_min_u32_e64 v4, v8, v12
v_max_u32_e64 v4, v8, v12
v_lshrrev_b32_e64 v4, v8, v12
v_ashrrev_i32_e64 v4, v8, v12
v_lshlrev_b32_e64 v4, v8, v12
v_and_b32_e64 v4, v8, v12
v_or_b32_e64 v4, v8, v12
v_xor_b32_e64 v4, v8, v12
v_mac_f32_e64 v4, v8, v12
v_add_co_u32_e64 v4, s[0:1], v8, v12
v_sub_co_u32_e64 v4, s[0:1], v8, v12
v_subrev_co_u32_e64 v4, s[0:1], v8, v12
v_add_f16_e64 v4, v8, v12
v_sub_f16_e64 v4, v8, v12
v_subrev_f16_e64 v4, v8, v12
v_mul_f16_e64 v4, v8, v12
v_mac_f16_e64 v4, v8, v12
v_add_u16_e64 v4, v8, v12
v_sub_u16_e64 v4, v8, v12
v_subrev_u16_e64 v4, v8, v12
v_mul_lo_u16_e64 v4, v8, v12
v_lshlrev_b16_e64 v4, v8, v12
v_lshrrev_b16_e64 v4, v8, v12
v_ashrrev_i16_e64 v4, v8, v12
v_max_f16_e64 v4, v8, v12
v_min_f16_e64 v4, v8, v12
v_max_u16_e64 v4, v8, v12
v_max_i16_e64 v4, v8, v12
v_min_u16_e64 v4, v8, v12
v_min_i16_e64 v4, v8, v12
v_ldexp_f16_e64 v4, v8, v12
v_add_u32_e64 v4, v8, v12
v_sub_u32_e64 v4, v8, v12
v_subrev_u32_e64 v4, v8, v12
v_dot2c_f32_f16_e64 v4, v8, v12
v_dot2c_i32_i16_e64 v4, v8, v12
v_dot4c_i32_i8_e64 v4, v8, v12
v_dot8c_i32_i4_e64 v4, v8, v12
v_fmac_f32_e64 v4, v8, v12
v_xnor_b32_e64 v4, v8, v12
v_mov_b32_e64 v4, v8
v_cvt_i32_f64_e64 v4, v[8:9]
v_cvt_f64_i32_e64 v[4:5], v8
v_cvt_f32_i32_e64 v4, v8
v_cvt_f32_u32_e64 v4, v8
v_cvt_u32_f32_e64 v4, v8
v_cvt_i32_f32_e64 v4, v8
v_cvt_f16_f32_e64 v4, v8
v_cvt_f32_f16_e64 v4, v8
v_cvt_rpi_i32_f32_e64 v4, v8
v_cvt_flr_i32_f32_e64 v4, v8
v_cvt_off_f32_i4_e64 v4, v8
v_cvt_f32_f64_e64 v4, v[8:9]
v_cvt_f64_f32_e64 v[4:5], v8
v_cvt_f32_ubyte0_e64 v4, v8
v_cvt_f32_ubyte1_e64 v4, v8
v_cvt_f32_ubyte2_e64 v4, v8
v_cvt_f32_ubyte3_e64 v4, v8
v_cvt_u32_f64_e64 v4, v[8:9]
v_cvt_f64_u32_e64 v[4:5], v8
v_trunc_f64_e64 v[4:5], v[8:9]
v_ceil_f64_e64 v[4:5], v[8:9]
v_rndne_f64_e64 v[4:5], v[8:9]
v_floor_f64_e64 v[4:5], v[8:9]
v_fract_f32_e64 v4, v8
v_trunc_f32_e64 v4, v8
v_ceil_f32_e64 v4, v8
v_rndne_f32_e64 v4, v8
v_floor_f32_e64 v4, v8
v_exp_f32_e64 v4, v8
v_log_f32_e64 v4, v8
v_rcp_f32_e64 v4, v8
v_rcp_iflag_f32_e64 v4, v8
v_rsq_f32_e64 v4, v8
v_rcp_f64_e64 v[4:5], v[8:9]
v_rsq_f64_e64 v[4:5], v[8:9]
v_sqrt_f32_e64 v4, v8
v_sqrt_f64_e64 v[4:5], v[8:9]
v_sin_f32_e64 v4, v8
v_cos_f32_e64 v4, v8
v_not_b32_e64 v4, v8
v_bfrev_b32_e64 v4, v8
v_ffbh_u32_e64 v4, v8
v_ffbl_b32_e64 v4, v8
v_ffbh_i32_e64 v4, v8
v_frexp_exp_i32_f64_e64 v4, v[8:9]
v_frexp_mant_f64_e64 v[4:5], v[8:9]
v_fract_f64_e64 v[4:5], v[8:9]
v_frexp_exp_i32_f32_e64 v4, v8
v_frexp_mant_f32_e64 v4, v8
v_screen_partition_4se_b32_e64 v4, v8
v_cvt_f16_u16_e64 v4, v8
v_cvt_f16_i16_e64 v4, v8
v_cvt_u16_f16_e64 v4, v8
v_cvt_i16_f16_e64 v4, v8
v_rcp_f16_e64 v4, v8
v_sqrt_f16_e64 v4, v8
v_rsq_f16_e64 v4, v8
v_log_f16_e64 v4, v8
v_exp_f16_e64 v4, v8
v_frexp_mant_f16_e64 v4, v8
v_frexp_exp_i16_f16_e64 v4, v8
v_floor_f16_e64 v4, v8
v_ceil_f16_e64 v4, v8
v_trunc_f16_e64 v4, v8
v_rndne_f16_e64 v4, v8
v_fract_f16_e64 v4, v8
v_sin_f16_e64 v4, v8
v_cos_f16_e64 v4, v8
v_exp_legacy_f32_e64 v4, v8
v_log_legacy_f32_e64 v4, v8
v_cvt_norm_i16_f16_e64 v4, v8
v_cvt_norm_u16_f16_e64 v4, v8
v_sat_pk_u8_i16_e64 v4, v8
v_mad_legacy_f32 v4, v8, v12, v16
v_mad_f32 v4, v8, v12, v16
v_mad_i32_i24 v4, v8, v12, v16
v_mad_u32_u24 v4, v8, v12, v16
v_cubeid_f32 v4, v8, v12, v16
v_cubesc_f32 v4, v8, v12, v16
v_cubetc_f32 v4, v8, v12, v16
v_cubema_f32 v4, v8, v12, v16
v_bfe_u32 v4, v8, v12, v16
v_bfe_i32 v4, v8, v12, v16
v_bfi_b32 v4, v8, v12, v16
v_fma_f32 v4, v8, v12, v16
v_fma_f64 v[4:5], v[8:9], v[12:13], v[16:17]
v_lerp_u8 v4, v8, v12, v16
v_alignbit_b32 v4, v8, v12, v16
v_alignbyte_b32 v4, v8, v12, v16
v_min3_f32 v4, v8, v12, v16
v_min3_i32 v4, v8, v12, v16
v_min3_u32 v4, v8, v12, v16
v_max3_f32 v4, v8, v12, v16
v_max3_i32 v4, v8, v12, v16
v_max3_u32 v4, v8, v12, v16
v_med3_f32 v4, v8, v12, v16
v_med3_i32 v4, v8, v12, v16
v_med3_u32 v4, v8, v12, v16
v_sad_u8 v4, v8, v12, v16
v_sad_hi_u8 v4, v8, v12, v16
v_sad_u16 v4, v8, v12, v16
v_sad_u32 v4, v8, v12, v16
v_cvt_pk_u8_f32 v4, v8, v12, v16
v_div_fixup_f32 v4, v8, v12, v16
v_div_fixup_f64 v[4:5], v[8:9], v[12:13], v[16:17]
v_div_scale_f32 v4, s[0:1], v8, v12, v16
v_div_scale_f64 v[4:5], s[0:1], v[8:9], v[12:13], v[16:17]
v_div_fmas_f32 v4, v8, v12, v16
v_div_fmas_f64 v[4:5], v[8:9], v[12:13], v[16:17]
v_msad_u8 v4, v8, v12, v16
v_qsad_pk_u16_u8 v[4:5], v[8:9], v12, v[16:17]
v_mqsad_pk_u16_u8 v[4:5], v[8:9], v12, v[16:17]
v_mqsad_u32_u8 v[4:7], v[8:9], v12, v[16:19]
v_mad_u64_u32 v[4:5], s[0:1], v8, v12, v[16:17]
v_mad_i64_i32 v[4:5], s[0:1], v8, v12, v[16:17]
v_mad_legacy_f16 v4, v8, v12, v16
v_mad_legacy_u16 v4, v8, v12, v16
v_mad_legacy_i16 v4, v8, v12, v16
v_perm_b32 v4, v8, v12, v16
v_fma_legacy_f16 v4, v8, v12, v16
v_div_fixup_legacy_f16 v4, v8, v12, v16
v_cvt_pkaccum_u8_f32 v4, v8, v12
v_mad_u32_u16 v4, v8, v12, v16
v_mad_i32_i16 v4, v8, v12, v16
v_xad_u32 v4, v8, v12, v16
v_min3_f16 v4, v8, v12, v16
v_min3_i16 v4, v8, v12, v16
v_min3_u16 v4, v8, v12, v16
v_max3_f16 v4, v8, v12, v16
v_max3_i16 v4, v8, v12, v16
v_max3_u16 v4, v8, v12, v16
v_med3_f16 v4, v8, v12, v16
v_med3_i16 v4, v8, v12, v16
v_med3_u16 v4, v8, v12, v16
v_lshl_add_u32 v4, v8, v12, v16
v_add_lshl_u32 v4, v8, v12, v16
v_add3_u32 v4, v8, v12, v16
v_lshl_or_b32 v4, v8, v12, v16
v_and_or_b32 v4, v8, v12, v16
v_or3_b32 v4, v8, v12, v16
v_mad_f16 v4, v8, v12, v16
v_mad_u16 v4, v8, v12, v16
v_mad_i16 v4, v8, v12, v16
v_fma_f16 v4, v8, v12, v16
v_div_fixup_f16 v4, v8, v12, v16
v_add_f64 v[4:5], v[8:9], v[12:13]
v_mul_f64 v[4:5], v[8:9], v[12:13]
v_min_f64 v[4:5], v[8:9], v[12:13]
v_max_f64 v[4:5], v[8:9], v[12:13]
v_ldexp_f64 v[4:5], v[8:9], v12
v_mul_lo_u32 v4, v8, v12
v_mul_hi_u32 v4, v8, v12
v_mul_hi_i32 v4, v8, v12
v_ldexp_f32 v4, v8, v12
v_bcnt_u32_b32 v4, v8, v12
v_mbcnt_lo_u32_b32 v4, v8, v12
v_mbcnt_hi_u32_b32 v4, v8, v12
v_lshlrev_b64 v[4:5], v8, v[12:13]
v_lshrrev_b64 v[4:5], v8, v[12:13]
v_ashrrev_i64 v[4:5], v8, v[12:13]
v_trig_preop_f64 v[4:5], v[8:9], v12
v_bfm_b32 v4, v8, v12
v_cvt_pknorm_i16_f32 v4, v8, v12
v_cvt_pknorm_u16_f32 v4, v8, v12
v_cvt_pkrtz_f16_f32 v4, v8, v12
v_cvt_pk_u16_u32 v4, v8, v12
v_cvt_pk_i16_i32 v4, v8, v12
v_cvt_pknorm_i16_f16 v4, v8, v12
v_cvt_pknorm_u16_f16 v4, v8, v12
v_add_i32 v4, v8, v12
v_sub_i32 v4, v8, v12
v_add_i16 v4, v8, v12
v_sub_i16 v4, v8, v12
v_pack_b32_f16 v4, v8, v12
v_mul_legacy_f32 v4, v8, v12
// vop3pall
v_pk_mad_i16 v4, v8, v12, v16
v_pk_mul_lo_u16 v4, v8, v12
v_pk_add_i16 v4, v8, v12
v_pk_sub_i16 v4, v8, v12
v_pk_lshlrev_b16 v4, v8, v12
v_pk_lshrrev_b16 v4, v8, v12
v_pk_ashrrev_i16 v4, v8, v12
v_pk_max_i16 v4, v8, v12
v_pk_min_i16 v4, v8, v12
v_pk_mad_u16 v4, v8, v12, v16
v_pk_add_u16 v4, v8, v12
v_pk_sub_u16 v4, v8, v12
v_pk_max_u16 v4, v8, v12
v_pk_min_u16 v4, v8, v12
v_pk_fma_f16 v4, v8, v12, v16
v_pk_add_f16 v4, v8, v12
v_pk_mul_f16 v4, v8, v12
v_pk_min_f16 v4, v8, v12
v_pk_max_f16 v4, v8, v12
v_fma_mix_f32 v4, v8, v12, v16 op_sel_hi:[1,1,1]
v_fma_mixlo_f16 v4, v8, v12, v16 op_sel_hi:[1,1,1]
v_fma_mixhi_f16 v4, v8, v12, v16 op_sel_hi:[1,1,1]
v_dot2_f32_f16 v4, v8, v12, v16
v_dot2_i32_i16 v4, v8, v12, v16
v_dot2_u32_u16 v4, v8, v12, v16
v_dot4_i32_i8 v4, v8, v12, v16
v_dot4_u32_u8 v4, v8, v12, v16
v_dot8_i32_i4 v4, v8, v12, v16
v_dot8_u32_u4 v4, v8, v12, v16
v_pk_fma_f32 v[4:5], v[8:9], v[12:13], v[16:17]
v_pk_mul_f32 v[4:5], v[8:9], v[12:13]
v_pk_add_f32 v[4:5], v[8:9], v[12:13]
v_pk_mov_b32 v[4:5], v[8:9], v[12:13]
v_mfma_f32_32x32x1f32 v[16:47], a8, a12, v[16:47] abid:8
v_mfma_f32_16x16x1f32 v[16:31], a8, a12, v[16:31] abid:8
v_mfma_f32_4x4x1f32 v[16:19], a8, a12, v[16:19] abid:8
v_mfma_f32_32x32x2f32 v[16:31], a8, a12, v[16:31] abid:8
v_mfma_f32_16x16x4f32 v[16:19], a8, a12, v[16:19] abid:8
v_mfma_f32_32x32x4f16 v[16:47], a[8:9], a[12:13], v[16:47] abid:8
v_mfma_f32_16x16x4f16 v[16:31], a[8:9], a[12:13], v[16:31] abid:8
v_mfma_f32_4x4x4f16 v[16:19], a[8:9], a[12:13], v[16:19] abid:8
v_mfma_f32_32x32x8f16 v[16:31], a[8:9], a[12:13], v[16:31] abid:8
v_mfma_f32_16x16x16f16 v[16:19], a[8:9], a[12:13], v[16:19] abid:8
v_mfma_i32_32x32x4i8 v[16:47], a8, a12, v[16:47] abid:8
v_mfma_i32_16x16x4i8 v[16:31], a8, a12, v[16:31] abid:8
v_mfma_i32_4x4x4i8 v[16:19], a8, a12, v[16:19] abid:8
v_mfma_i32_32x32x8i8 v[16:31], a8, a12, v[16:31] abid:8
v_mfma_i32_16x16x16i8 v[16:19], a8, a12, v[16:19] abid:8
v_accvgpr_read_b32 v4, a8
v_accvgpr_write_b32 a4, v8
v_mfma_f32_32x32x4bf16_1k v[16:47], a[8:9], a[12:13], v[16:47] abid:8
v_mfma_f32_16x16x4bf16_1k v[16:31], a[8:9], a[12:13], v[16:31] abid:8
v_mfma_f32_4x4x4bf16_1k v[16:19], a[8:9], a[12:13], v[16:19] abid:8
v_mfma_f32_32x32x8bf16_1k v[16:31], a[8:9], a[12:13], v[16:31] abid:8
v_mfma_f32_16x16x16bf16_1k v[16:19], a[8:9], a[12:13], v[16:19] abid:8
v_mfma_f32_32x32x2bf16 v[16:47], a8, a12, v[16:47] abid:8
v_mfma_f32_16x16x2bf16 v[16:31], a8, a12, v[16:31] abid:8
v_mfma_f32_4x4x2bf16 v[16:19], a8, a12, v[16:19] abid:8
v_mfma_f32_32x32x4bf16 v[16:31], a8, a12, v[16:31] abid:8
v_mfma_f32_16x16x8bf16 v[16:19], a8, a12, v[16:19] abid:8
v_mfma_f64_16x16x4f64 v[16:23], a[8:9], a[12:13], v[16:23] abid:8
v_mfma_f64_4x4x4f64 v[16:17], a[8:9], a[12:13], v[16:17] abid:8
// ds
ds_add_u32 v4, v8 offset:4
ds_sub_u32 v4, v8 offset:4
ds_rsub_u32 v4, v8 offset:4
ds_inc_u32 v4, v8 offset:4
ds_dec_u32 v4, v8 offset:4
ds_min_i32 v4, v8 offset:4
ds_max_i32 v4, v8 offset:4
ds_min_u32 v4, v8 offset:4
ds_max_u32 v4, v8 offset:4
ds_and_b32 v4, v8 offset:4
ds_or_b32 v4, v8 offset:4
ds_xor_b32 v4, v8 offset:4
ds_mskor_b32 v4, v8, v12 offset:4
ds_write_b32 v4, v8 offset:4
ds_write2_b32 v4, v8, v12 offset0:4
ds_write2st64_b32 v4, v8, v12 offset0:4
ds_cmpst_b32 v4, v8, v12 offset:4
ds_cmpst_f32 v4, v8, v12 offset:4
ds_min_f32 v4, v8 offset:4
ds_max_f32 v4, v8 offset:4
ds_add_f32 v4, v8 offset:4
ds_write_addtid_b32 v8 offset:4
ds_write_b8 v4, v8 offset:4
ds_write_b16 v4, v8 offset:4
ds_add_rtn_u32 v16, v4, v8 offset:4
ds_sub_rtn_u32 v16, v4, v8 offset:4
ds_rsub_rtn_u32 v16, v4, v8 offset:4
ds_inc_rtn_u32 v16, v4, v8 offset:4
ds_dec_rtn_u32 v16, v4, v8 offset:4
ds_min_rtn_i32 v16, v4, v8 offset:4
ds_max_rtn_i32 v16, v4, v8 offset:4
ds_min_rtn_u32 v16, v4, v8 offset:4
ds_max_rtn_u32 v16, v4, v8 offset:4
ds_and_rtn_b32 v16, v4, v8 offset:4
ds_or_rtn_b32 v16, v4, v8 offset:4
ds_xor_rtn_b32 v16, v4, v8 offset:4
ds_mskor_rtn_b32 v16, v4, v8, v12 offset:4
ds_wrxchg_rtn_b32 v16, v4, v8 offset:4
ds_wrxchg2_rtn_b32 v[16:17], v4, v8, v12 offset0:4
ds_wrxchg2st64_rtn_b32 v[16:17], v4, v8, v12 offset0:4
ds_cmpst_rtn_b32 v16, v4, v8, v12 offset:4
ds_cmpst_rtn_f32 v16, v4, v8, v12 offset:4
ds_min_rtn_f32 v16, v4, v8 offset:4
ds_max_rtn_f32 v16, v4, v8 offset:4
ds_wrap_rtn_b32 v16, v4, v8, v12 offset:4
ds_add_rtn_f32 v16, v4, v8 offset:4
ds_read_b32 v16, v4 offset:4
ds_read2_b32 v[16:17], v4 offset0:4
ds_read2st64_b32 v[16:17], v4 offset0:4
ds_read_i8 v16, v4 offset:4
ds_read_u8 v16, v4 offset:4
ds_read_i16 v16, v4 offset:4
ds_read_u16 v16, v4 offset:4
ds_swizzle_b32 v16, v4 offset:swizzle(BITMASK_PERM,"00p00")
ds_permute_b32 v16, v4, v8 offset:4
ds_bpermute_b32 v16, v4, v8 offset:4
ds_add_u64 v4, v[8:9] offset:4
ds_sub_u64 v4, v[8:9] offset:4
ds_rsub_u64 v4, v[8:9] offset:4
ds_inc_u64 v4, v[8:9] offset:4
ds_dec_u64 v4, v[8:9] offset:4
ds_min_i64 v4, v[8:9] offset:4
ds_max_i64 v4, v[8:9] offset:4
ds_min_u64 v4, v[8:9] offset:4
ds_max_u64 v4, v[8:9] offset:4
ds_and_b64 v4, v[8:9] offset:4
ds_or_b64 v4, v[8:9] offset:4
ds_xor_b64 v4, v[8:9] offset:4
ds_mskor_b64 v4, v[8:9], v[12:13] offset:4
ds_write_b64 v4, v[8:9] offset:4
ds_write2_b64 v4, v[8:9], v[12:13] offset0:4
ds_write2st64_b64 v4, v[8:9], v[12:13] offset0:4
ds_cmpst_b64 v4, v[8:9], v[12:13] offset:4
ds_cmpst_f64 v4, v[8:9], v[12:13] offset:4
ds_min_f64 v4, v[8:9] offset:4
ds_max_f64 v4, v[8:9] offset:4
ds_write_b8_d16_hi v4, v8 offset:4
ds_write_b16_d16_hi v4, v8 offset:4
ds_read_u8_d16 v16, v4 offset:4
ds_read_u8_d16_hi v16, v4 offset:4
ds_read_i8_d16 v16, v4 offset:4
ds_read_i8_d16_hi v16, v4 offset:4
ds_read_u16_d16 v16, v4 offset:4
ds_read_u16_d16_hi v16, v4 offset:4
ds_add_f64 v4, v[8:9] offset:4
ds_add_rtn_u64 v[16:17], v4, v[8:9] offset:4
ds_sub_rtn_u64 v[16:17], v4, v[8:9] offset:4
ds_rsub_rtn_u64 v[16:17], v4, v[8:9] offset:4
ds_inc_rtn_u64 v[16:17], v4, v[8:9] offset:4
ds_dec_rtn_u64 v[16:17], v4, v[8:9] offset:4
ds_min_rtn_i64 v[16:17], v4, v[8:9] offset:4
ds_max_rtn_i64 v[16:17], v4, v[8:9] offset:4
ds_min_rtn_u64 v[16:17], v4, v[8:9] offset:4
ds_max_rtn_u64 v[16:17], v4, v[8:9] offset:4
ds_and_rtn_b64 v[16:17], v4, v[8:9] offset:4
ds_or_rtn_b64 v[16:17], v4, v[8:9] offset:4
ds_xor_rtn_b64 v[16:17], v4, v[8:9] offset:4
ds_mskor_rtn_b64 v[16:17], v4, v[8:9], v[12:13] offset:4
ds_wrxchg_rtn_b64 v[16:17], v4, v[8:9] offset:4
ds_wrxchg2_rtn_b64 v[16:19], v4, v[8:9], v[12:13] offset0:4
ds_wrxchg2st64_rtn_b64 v[16:19], v4, v[8:9], v[12:13] offset0:4
ds_cmpst_rtn_b64 v[16:17], v4, v[8:9], v[12:13] offset:4
ds_cmpst_rtn_f64 v[16:17], v4, v[8:9], v[12:13] offset:4
ds_min_rtn_f64 v[16:17], v4, v[8:9] offset:4
ds_max_rtn_f64 v[16:17], v4, v[8:9] offset:4
ds_read_b64 v[16:17], v4 offset:4
ds_read2_b64 v[16:19], v4 offset0:4
ds_read2st64_b64 v[16:19], v4 offset0:4
ds_add_rtn_f64 v[16:17], v4, v[8:9] offset:4
ds_condxchg32_rtn_b64 v[16:17], v4, v[8:9] offset:4
ds_read_addtid_b32 v16 offset:4
ds_consume v16 offset:4
ds_append v16 offset:4
ds_write_b96 v4, v[8:10] offset:4
ds_write_b128 v4, v[8:11] offset:4
ds_read_b96 v[16:18], v4 offset:4
ds_read_b128 v[16:19], v4 offset:4
// flat
flat_load_ubyte v16, v[4:5] glc
flat_load_sbyte v16, v[4:5] glc
flat_load_ushort v16, v[4:5] glc
flat_load_sshort v16, v[4:5] glc
flat_load_dword v16, v[4:5] glc
flat_load_dwordx2 v[16:17], v[4:5] glc
flat_load_dwordx3 v[16:18], v[4:5] glc
flat_load_dwordx4 v[16:19], v[4:5] glc
flat_store_byte v[4:5], v8 glc
flat_store_byte_d16_hi v[4:5], v8 glc
flat_store_short v[4:5], v8 glc
flat_store_short_d16_hi v[4:5], v8 glc
flat_store_dword v[4:5], v8 glc
flat_store_dwordx2 v[4:5], v[8:9] glc
flat_store_dwordx3 v[4:5], v[8:10] glc
flat_store_dwordx4 v[4:5], v[8:11] glc
flat_load_ubyte_d16 v16, v[4:5] glc
flat_load_ubyte_d16_hi v16, v[4:5] glc
flat_load_sbyte_d16 v16, v[4:5] glc
flat_load_sbyte_d16_hi v16, v[4:5] glc
flat_load_short_d16 v16, v[4:5] glc
flat_load_short_d16_hi v16, v[4:5] glc
flat_atomic_swap v16, v[4:5], v8 glc
flat_atomic_cmpswap v16, v[4:5], v[8:9] glc
flat_atomic_add v16, v[4:5], v8 glc
flat_atomic_sub v16, v[4:5], v8 glc
flat_atomic_smin v16, v[4:5], v8 glc
flat_atomic_umin v16, v[4:5], v8 glc
flat_atomic_smax v16, v[4:5], v8 glc
flat_atomic_umax v16, v[4:5], v8 glc
flat_atomic_and v16, v[4:5], v8 glc
flat_atomic_or v16, v[4:5], v8 glc
flat_atomic_xor v16, v[4:5], v8 glc
flat_atomic_inc v16, v[4:5], v8 glc
flat_atomic_dec v16, v[4:5], v8 glc
flat_atomic_add_f64 v[16:17], v[4:5], v[8:9] glc
flat_atomic_min_f64 v[16:17], v[4:5], v[8:9] glc
flat_atomic_max_f64 v[16:17], v[4:5], v[8:9] glc
flat_atomic_swap_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_cmpswap_x2 v[16:17], v[4:5], v[8:11] glc
flat_atomic_add_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_sub_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_smin_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_umin_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_smax_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_umax_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_and_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_or_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_xor_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_inc_x2 v[16:17], v[4:5], v[8:9] glc
flat_atomic_dec_x2 v[16:17], v[4:5], v[8:9] glc
// global
global_load_ubyte v16, v[4:5], off glc
global_load_sbyte v16, v[4:5], off glc
global_load_ushort v16, v[4:5], off glc
global_load_sshort v16, v[4:5], off glc
global_load_dword v16, v[4:5], off glc
global_load_dwordx2 v[16:17], v[4:5], off glc
global_load_dwordx3 v[16:18], v[4:5], off glc
global_load_dwordx4 v[16:19], v[4:5], off glc
global_store_byte v[4:5], v8, off glc
global_store_byte_d16_hi v[4:5], v8, off glc
global_store_short v[4:5], v8, off glc
global_store_short_d16_hi v[4:5], v8, off glc
global_store_dword v[4:5], v8, off glc
global_store_dwordx2 v[4:5], v[8:9], off glc
global_store_dwordx3 v[4:5], v[8:10], off glc
global_store_dwordx4 v[4:5], v[8:11], off glc
global_load_ubyte_d16 v16, v[4:5], off glc
global_load_ubyte_d16_hi v16, v[4:5], off glc
global_load_sbyte_d16 v16, v[4:5], off glc
global_load_sbyte_d16_hi v16, v[4:5], off glc
global_load_short_d16 v16, v[4:5], off glc
global_load_short_d16_hi v16, v[4:5], off glc
global_atomic_swap v16, v[4:5], v8, off glc
global_atomic_cmpswap v16, v[4:5], v[8:9], off glc
global_atomic_add v16, v[4:5], v8, off glc
global_atomic_sub v16, v[4:5], v8, off glc
global_atomic_smin v16, v[4:5], v8, off glc
global_atomic_umin v16, v[4:5], v8, off glc
global_atomic_smax v16, v[4:5], v8, off glc
global_atomic_umax v16, v[4:5], v8, off glc
global_atomic_and v16, v[4:5], v8, off glc
global_atomic_or v16, v[4:5], v8, off glc
global_atomic_xor v16, v[4:5], v8, off glc
global_atomic_inc v16, v[4:5], v8, off glc
global_atomic_dec v16, v[4:5], v8, off glc
global_atomic_add_f32 v16, v[4:5], v8, off glc
global_atomic_pk_add_f16 v16, v[4:5], v8, off glc
global_atomic_add_f64 v[16:17], v[4:5], v[8:9], off glc
global_atomic_min_f64 v[16:17], v[4:5], v[8:9], off glc
global_atomic_max_f64 v[16:17], v[4:5], v[8:9], off glc
global_atomic_swap_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_cmpswap_x2 v[16:17], v[4:5], v[8:11], off glc
global_atomic_add_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_sub_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_smin_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_umin_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_smax_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_umax_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_and_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_or_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_xor_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_inc_x2 v[16:17], v[4:5], v[8:9], off glc
global_atomic_dec_x2 v[16:17], v[4:5], v[8:9], off glc
// scratch
scratch_load_ubyte v16, v4, off glc
scratch_load_sbyte v16, v4, off glc
scratch_load_ushort v16, v4, off glc
scratch_load_sshort v16, v4, off glc
scratch_load_dword v16, v4, off glc
scratch_load_dwordx2 v[16:17], v4, off glc
scratch_load_dwordx3 v[16:18], v4, off glc
scratch_load_dwordx4 v[16:19], v4, off glc
scratch_store_byte v4, v8, off glc
scratch_store_byte_d16_hi v4, v8, off glc
scratch_store_short v4, v8, off glc
scratch_store_short_d16_hi v4, v8, off glc
scratch_store_dword v4, v8, off glc
scratch_store_dwordx2 v4, v[8:9], off glc
scratch_store_dwordx3 v4, v[8:10], off glc
scratch_store_dwordx4 v4, v[8:11], off glc
scratch_load_ubyte_d16 v16, v4, off glc
scratch_load_ubyte_d16_hi v16, v4, off glc
scratch_load_sbyte_d16 v16, v4, off glc
scratch_load_sbyte_d16_hi v16, v4, off glc
scratch_load_short_d16 v16, v4, off glc
scratch_load_short_d16_hi v16, v4, off glc
// mubuf0
buffer_load_format_x v0, off, s[0:3], 0
buffer_load_format_xy v[0:1], off, s[0:3], 0
buffer_load_format_xyz v[0:2], off, s[0:3], 0
buffer_load_format_xyzw v[0:3], off, s[0:3], 0
buffer_store_format_x v0, off, s[0:3], 0
buffer_store_format_xy v[0:1], off, s[0:3], 0
buffer_store_format_xyz v[0:2], off, s[0:3], 0
buffer_store_format_xyzw v[0:3], off, s[0:3], 0
buffer_load_format_d16_x v0, off, s[0:3], 0
buffer_load_format_d16_xy v0, off, s[0:3], 0
buffer_load_format_d16_xyz v[0:1], off, s[0:3], 0
buffer_load_format_d16_xyzw v[0:1], off, s[0:3], 0
buffer_store_format_d16_x v0, off, s[0:3], 0
buffer_store_format_d16_xy v0, off, s[0:3], 0
buffer_store_format_d16_xyz v[0:1], off, s[0:3], 0
buffer_store_format_d16_xyzw v[0:1], off, s[0:3], 0
buffer_load_ubyte v0, off, s[0:3], 0
buffer_load_sbyte v0, off, s[0:3], 0
buffer_load_ushort v0, off, s[0:3], 0
buffer_load_sshort v0, off, s[0:3], 0
buffer_load_dword v0, off, s[0:3], 0
buffer_load_dwordx2 v[0:1], off, s[0:3], 0
buffer_load_dwordx3 v[0:2], off, s[0:3], 0
buffer_load_dwordx4 v[0:3], off, s[0:3], 0
buffer_store_byte v0, off, s[0:3], 0
buffer_store_byte_d16_hi v0, off, s[0:3], 0
buffer_store_short v0, off, s[0:3], 0
buffer_store_short_d16_hi v0, off, s[0:3], 0
buffer_store_dword v0, off, s[0:3], 0
buffer_store_dwordx2 v[0:1], off, s[0:3], 0
buffer_store_dwordx3 v[0:2], off, s[0:3], 0
buffer_store_dwordx4 v[0:3], off, s[0:3], 0
buffer_load_ubyte_d16 v0, off, s[0:3], 0
buffer_load_ubyte_d16_hi v0, off, s[0:3], 0
buffer_load_sbyte_d16 v0, off, s[0:3], 0
buffer_load_sbyte_d16_hi v0, off, s[0:3], 0
buffer_load_short_d16 v0, off, s[0:3], 0
buffer_load_short_d16_hi v0, off, s[0:3], 0
buffer_load_format_d16_hi_x v0, off, s[0:3], 0
buffer_store_format_d16_hi_x v0, off, s[0:3], 0
buffer_wbl2
buffer_invl2
buffer_wbinvl1
buffer_wbinvl1_vol
buffer_atomic_swap v0, off, s[0:3], 0
buffer_atomic_cmpswap v[0:1], off, s[0:3], 0
buffer_atomic_add v0, off, s[0:3], 0
buffer_atomic_sub v0, off, s[0:3], 0
buffer_atomic_smin v0, off, s[0:3], 0
buffer_atomic_umin v0, off, s[0:3], 0
buffer_atomic_smax v0, off, s[0:3], 0
buffer_atomic_umax v0, off, s[0:3], 0
buffer_atomic_and v0, off, s[0:3], 0
buffer_atomic_or v0, off, s[0:3], 0
buffer_atomic_xor v0, off, s[0:3], 0
buffer_atomic_inc v0, off, s[0:3], 0
buffer_atomic_dec v0, off, s[0:3], 0
buffer_atomic_add_f32 v0, off, s[0:3], 0
buffer_atomic_pk_add_f16 v0, off, s[0:3], 0
buffer_atomic_add_f64 v[0:1], off, s[0:3], 0
buffer_atomic_min_f64 v[0:1], off, s[0:3], 0
buffer_atomic_max_f64 v[0:1], off, s[0:3], 0
buffer_atomic_swap_x2 v[0:1], off, s[0:3], 0
buffer_atomic_cmpswap_x2 v[0:3], off, s[0:3], 0
buffer_atomic_add_x2 v[0:1], off, s[0:3], 0
buffer_atomic_sub_x2 v[0:1], off, s[0:3], 0
buffer_atomic_smin_x2 v[0:1], off, s[0:3], 0
buffer_atomic_umin_x2 v[0:1], off, s[0:3], 0
buffer_atomic_smax_x2 v[0:1], off, s[0:3], 0
buffer_atomic_umax_x2 v[0:1], off, s[0:3], 0
buffer_atomic_and_x2 v[0:1], off, s[0:3], 0
buffer_atomic_or_x2 v[0:1], off, s[0:3], 0
buffer_atomic_xor_x2 v[0:1], off, s[0:3], 0
buffer_atomic_inc_x2 v[0:1], off, s[0:3], 0
buffer_atomic_dec_x2 v[0:1], off, s[0:3], 0
// mubuf
buffer_load_format_x v8, v4, s[8:11], 0 offen glc
buffer_load_format_xy v[8:9], v4, s[8:11], 0 offen glc
buffer_load_format_xyz v[8:10], v4, s[8:11], 0 offen glc
buffer_load_format_xyzw v[8:11], v4, s[8:11], 0 offen glc
buffer_store_format_x v8, v4, s[8:11], 0 offen glc
buffer_store_format_xy v[8:9], v4, s[8:11], 0 offen glc
buffer_store_format_xyz v[8:10], v4, s[8:11], 0 offen glc
buffer_store_format_xyzw v[8:11], v4, s[8:11], 0 offen glc
buffer_load_format_d16_x v8, v4, s[8:11], 0 offen glc
buffer_load_format_d16_xy v8, v4, s[8:11], 0 offen glc
buffer_load_format_d16_xyz v[8:9], v4, s[8:11], 0 offen glc
buffer_load_format_d16_xyzw v[8:9], v4, s[8:11], 0 offen glc
buffer_store_format_d16_x v8, v4, s[8:11], 0 offen glc
buffer_store_format_d16_xy v8, v4, s[8:11], 0 offen glc
buffer_store_format_d16_xyz v[8:9], v4, s[8:11], 0 offen glc
buffer_store_format_d16_xyzw v[8:9], v4, s[8:11], 0 offen glc
buffer_load_ubyte v8, v4, s[8:11], 0 offen glc
buffer_load_sbyte v8, v4, s[8:11], 0 offen glc
buffer_load_ushort v8, v4, s[8:11], 0 offen glc
buffer_load_sshort v8, v4, s[8:11], 0 offen glc
buffer_load_dword v8, v4, s[8:11], 0 offen glc
buffer_load_dwordx2 v[8:9], v4, s[8:11], 0 offen glc
buffer_load_dwordx3 v[8:10], v4, s[8:11], 0 offen glc
buffer_load_dwordx4 v[8:11], v4, s[8:11], 0 offen glc
buffer_store_byte v8, v4, s[8:11], 0 offen glc
buffer_store_byte_d16_hi v8, v4, s[8:11], 0 offen glc
buffer_store_short v8, v4, s[8:11], 0 offen glc
buffer_store_short_d16_hi v8, v4, s[8:11], 0 offen glc
buffer_store_dword v8, v4, s[8:11], 0 offen glc
buffer_store_dwordx2 v[8:9], v4, s[8:11], 0 offen glc
buffer_store_dwordx3 v[8:10], v4, s[8:11], 0 offen glc
buffer_store_dwordx4 v[8:11], v4, s[8:11], 0 offen glc
buffer_load_ubyte_d16 v8, v4, s[8:11], 0 offen glc
buffer_load_ubyte_d16_hi v8, v4, s[8:11], 0 offen glc
buffer_load_sbyte_d16 v8, v4, s[8:11], 0 offen glc
buffer_load_sbyte_d16_hi v8, v4, s[8:11], 0 offen glc
buffer_load_short_d16 v8, v4, s[8:11], 0 offen glc
buffer_load_short_d16_hi v8, v4, s[8:11], 0 offen glc
buffer_load_format_d16_hi_x v8, v4, s[8:11], 0 offen glc
buffer_store_format_d16_hi_x v8, v4, s[8:11], 0 offen glc
buffer_atomic_swap v8, v4, s[8:11], 0 offen glc
buffer_atomic_cmpswap v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_add v8, v4, s[8:11], 0 offen glc
buffer_atomic_sub v8, v4, s[8:11], 0 offen glc
buffer_atomic_smin v8, v4, s[8:11], 0 offen glc
buffer_atomic_umin v8, v4, s[8:11], 0 offen glc
buffer_atomic_smax v8, v4, s[8:11], 0 offen glc
buffer_atomic_umax v8, v4, s[8:11], 0 offen glc
buffer_atomic_and v8, v4, s[8:11], 0 offen glc
buffer_atomic_or v8, v4, s[8:11], 0 offen glc
buffer_atomic_xor v8, v4, s[8:11], 0 offen glc
buffer_atomic_inc v8, v4, s[8:11], 0 offen glc
buffer_atomic_dec v8, v4, s[8:11], 0 offen glc
buffer_atomic_add_f32 v8, v4, s[8:11], 0 offen glc
buffer_atomic_pk_add_f16 v8, v4, s[8:11], 0 offen glc
buffer_atomic_add_f64 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_min_f64 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_max_f64 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_swap_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_cmpswap_x2 v[8:11], v4, s[8:11], 0 offen glc
buffer_atomic_add_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_sub_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_smin_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_umin_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_smax_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_umax_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_and_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_or_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_xor_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_inc_x2 v[8:9], v4, s[8:11], 0 offen glc
buffer_atomic_dec_x2 v[8:9], v4, s[8:11], 0 offen glc
// forms, modifiers and special operands
v_cndmask_b32_e64 v4, v8, v12, s[16:17]
v_cndmask_b32_e64 v4, -v8, |v12|, vcc
v_addc_co_u32_e64 v4, s[0:1], v8, v12, s[16:17]
v_subb_co_u32_e64 v4, s[0:1], v8, v12, vcc
v_subbrev_co_u32_e64 v4, vcc, v8, v12, s[16:17]
v_readlane_b32 s4, v8, s12
v_readlane_b32 s4, v8, m0
v_readlane_b32 vcc_lo, v8, 63
v_writelane_b32 v4, s8, m0
v_writelane_b32 v4, 7, 3
v_madmk_f32 v0, v1, 0x3f9d70a4, v2
v_madak_f32 v0, v1, v2, 0x3f9d70a4
v_madmk_f16 v0, v1, 0x1234, v2
v_madak_f16 v0, v1, v2, 0x1234
v_accvgpr_write_b32 a4, 1
v_mfma_f32_32x32x1f32 a[0:31], v8, v12, a[0:31]
v_mfma_f32_16x16x4f32 v[0:3], a8, v12, v[4:7] cbsz:1 abid:2 blgp:3
ds_nop
s_endpgm
s_branch 65533
s_waitcnt 0
s_sendmsg 1
s_getreg_b32 s4, hwreg(HW_REG_SH_MEM_BASES, 16, 16)
s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s7
s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0x12345678
s_mov_b32 s0, 0x12345678
s_mov_b64 s[0:1], 0x12345678
s_mov_b64 vcc, exec
s_mov_b64 exec, s[2:3]
s_mov_b32 m0, s3
s_mov_b64 s[2:3], src_shared_base
s_mov_b64 s[2:3], src_private_base
s_add_u32 flat_scratch_lo, s4, s7
s_addc_u32 flat_scratch_hi, s5, 0
s_mov_b64 xnack_mask, 1.0
s_mov_b32 s0, -16
s_mov_b32 s0, 0.15915494
s_mov_b32 ttmp3, s1
s_cselect_b64 s[0:1], -1, 0
s_set_gpr_idx_on s12, gpr_idx(SRC0,DST)
s_load_dword s1, s[2:3], s4
s_load_dword s1, s[2:3], 0x10 glc
s_load_dword s1, s[2:3], s5 offset:0x10
s_load_dwordx2 s[2:3], s[2:3], -0x10
s_load_dwordx4 s[4:7], vcc, 0x0
s_atomic_add s8, s[4:5], 0x10 glc
s_store_dword s1, s[2:3], 0x0
s_memtime s[0:1]
v_add_f32_e32 v0, 0x3f9d70a4, v1
v_add_f32_e32 v0, s3, v1
v_add_f32_e32 v0, vcc_lo, v1
v_add_f32_e32 v0, src_scc, v1
v_add_f32_e64 v0, -v1, |v2|
v_add_f32_e64 v0, -|v1|, s2 clamp
v_add_f32_e64 v0, 1.0, v2 mul:2
v_mul_f32_e64 v0, v1, v2 mul:4
v_mul_f32_e64 v0, v1, v2 clamp div:2
v_fma_f32 v0, -v1, |v2|, -|v3| clamp mul:2
v_fma_f64 v[0:1], -v[2:3], |v[4:5]|, s[6:7]
v_fma_f64 v[0:1], v[2:3], v[4:5], 1.0
v_add_f64 v[0:1], v[2:3], -v[4:5]
v_mul_f64 v[0:1], v[2:3], 0.5
v_mov_b32_e32 v255, exec_hi
v_mov_b32_e32 v1, 0xdeadbeef
v_cvt_f64_f32_e32 v[2:3], 0x3f9d70a4
v_cmp_lt_f64_e32 vcc, s[0:1], v[2:3]
v_cmp_eq_u32_e64 s[10:11], v1, s3
v_cmp_class_f32_e64 vcc, -v1, v2
v_mad_f16 v0, v1, v2, v3 op_sel:[1,0,1,1]
v_fma_f16 v0, v1, v2, v3 op_sel:[0,1,0,0]
v_add_i16 v0, v1, v2 op_sel:[1,1,0]
v_pack_b32_f16 v0, v1, v2 op_sel:[1,1,0]
v_add_u32_e64 v0, v1, v2 clamp
v_div_scale_f32 v0, vcc, v1, v2, v3
v_mad_u64_u32 v[0:1], vcc, v2, s3, v[4:5]
v_lshlrev_b64 v[0:1], 3, v[2:3]
v_add_u32_sdwa v0, v1, v2 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
v_add_u32_sdwa v0, sext(v1), v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 src1_sel:DWORD
v_add_f32_sdwa v0, -v1, |v2| clamp mul:2 dst_sel:DWORD dst_unused:UNUSED_SEXT src0_sel:WORD_0 src1_sel:WORD_1
v_add_f16_sdwa v0, v1, s2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0
v_lshlrev_b32_sdwa v0, s1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_2
v_mov_b32_sdwa v0, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0
v_cvt_f32_ubyte0_sdwa v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1
v_add_co_u32_sdwa v0, vcc, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD
v_addc_co_u32_sdwa v0, vcc, v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD
v_cndmask_b32_sdwa v0, v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD
v_cmp_eq_u32_sdwa s[4:5], v1, v2 src0_sel:BYTE_1 src1_sel:WORD_1
v_cmp_eq_u16_sdwa vcc, v1, v2 src0_sel:BYTE_1 src1_sel:WORD_1
v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 row_shl:15 row_mask:0xa bank_mask:0x3 bound_ctrl:1
v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 row_ror:4 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 wave_shl:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 wave_rol:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 wave_shr:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 wave_ror:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 row_mirror row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 row_half_mirror row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf
v_mov_b32_dpp v0, v1 row_bcast:31 row_mask:0xc bank_mask:0xf
v_mov_b32_dpp v0, v1 row_newbcast:7 row_mask:0xf bank_mask:0xf
v_add_u32_dpp v0, v1, v2 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_add_f32_dpp v0, -v1, |v2| row_shr:8 row_mask:0xf bank_mask:0xf
v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7] op_sel_hi:[0,1,1] neg_lo:[1,0,0]
v_pk_mul_f32 v[0:1], v[2:3], 1.0 op_sel_hi:[1,0]
v_pk_add_f32 v[0:1], v[2:3], v[4:5] neg_lo:[0,1] neg_hi:[0,1]
v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]
v_pk_add_f16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1] clamp
v_pk_fma_f16 v0, v1, v2, v3
v_pk_add_u16 v0, v1, 1 op_sel_hi:[1,0]
v_dot2_f32_f16 v0, v1, v2, v3
v_dot4_i32_i8 v0, v1, v2, v3 clamp
v_fma_mix_f32 v0, v1, -v2, |v3| op_sel:[1,0,0] op_sel_hi:[1,0,1]
v_fma_mixlo_f16 v0, v1, v2, v3 op_sel_hi:[1,1,1] clamp
global_load_dword v4, v1, s[2:3]
global_load_dword v4, v1, s[2:3] offset:-4096 glc slc
global_load_dword v4, v[2:3], off offset:4095 scc
global_store_dwordx4 v1, v[4:7], s[2:3] offset:16
global_load_dword a4, v[2:3], off
global_store_dword v[2:3], a4, off
global_atomic_add v[2:3], v4, off
global_atomic_add v1, v[2:3], v4, off glc
global_atomic_cmpswap v1, v2, v[4:5], s[2:3] glc
global_atomic_add_f32 v0, v1, s[2:3]
global_atomic_pk_add_f16 v[0:1], v1, off
flat_load_dword v1, v[2:3] offset:2047 glc slc
flat_atomic_add_x2 v[2:3], v[4:5]
flat_atomic_cmpswap_x2 v[0:1], v[2:3], v[4:7] glc
scratch_load_dword v1, v2, off offset:-16
scratch_load_dword v1, off, s4
scratch_store_dword off, v1, s4 offset:16
ds_read_b32 a1, v2
ds_write_b32 v2, a1 offset:65535
ds_read2_b64 v[0:3], v4 offset0:1 offset1:255
ds_write2st64_b32 v0, v1, v2 offset1:8
ds_swizzle_b32 v0, v1 offset:65535
ds_bpermute_b32 v0, v1, v2 offset:4
buffer_load_dword v1, v2, s[0:3], s4 offen offset:4 scc
buffer_load_dword v1, v[2:3], s[0:3], 0 idxen offen offset:4095 glc slc
buffer_load_dword v1, v2, s[0:3], m0 idxen
buffer_store_dword v1, off, s[0:3], s32 offset:8
buffer_load_dword a1, off, s[0:3], 0
buffer_load_dword off, s[0:3], 0 lds
buffer_atomic_add v1, off, s[0:3], 0 glc
