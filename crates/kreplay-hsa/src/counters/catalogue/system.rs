//! Counters of clocks, command processor and wave launch. Event numbers: AMD's counter definitions for each chip.

use super::{NO, Row, row};

/// Columns: gfx90a, gfx942, gfx1100.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("GRBM_COUNT", "GRBM", [0, 0, 0], "cycles", "clock cycles"),
    row("GRBM_GUI_ACTIVE", "GRBM", [2, 2, 2], "cycles", "cycles in which the device had work"),
    row("GRBM_CP_BUSY", "GRBM", [3, 3, NO], "cycles", "cycles in which the command processor was busy"),
    row("GRBM_SPI_BUSY", "GRBM", [11, 11, NO], "cycles", "cycles in which waves were being launched"),
    row("GRBM_TA_BUSY", "GRBM", [13, 13, NO], "cycles", "cycles in which any vector memory address unit was busy"),
    row("GRBM_TC_BUSY", "GRBM", [28, 28, NO], "cycles", "cycles in which any vector cache was busy"),
    row("GRBM_CPC_BUSY", "GRBM", [30, 30, NO], "cycles", "cycles in which the compute command processor was busy"),
    row("GRBM_CPF_BUSY", "GRBM", [31, 31, NO], "cycles", "cycles in which the command fetcher was busy"),
    row("GRBM_UTCL2_BUSY", "GRBM", [34, 34, NO], "cycles", "cycles in which the second-level address translation was busy"),
    row("GRBM_EA_BUSY", "GRBM", [35, 35, NO], "cycles", "cycles in which the path to memory was busy"),
    row("CPC_ME1_BUSY_FOR_PACKET_DECODE", "CPC", [13, 13, NO], "cycles", "cycles in which packets were decoded"),
    row("CPC_UTCL1_STALL_ON_TRANSLATION", "CPC", [24, 24, NO], "cycles", "cycles that the compute command processor waited for an address translation"),
    row("CPC_CPC_STAT_BUSY", "CPC", [25, 25, NO], "cycles", "cycles in which the compute command processor was busy"),
    row("CPC_CPC_STAT_IDLE", "CPC", [26, 26, NO], "cycles", "cycles in which the compute command processor was idle"),
    row("CPC_CPC_STAT_STALL", "CPC", [27, 27, NO], "cycles", "cycles in which the compute command processor stood still"),
    row("CPC_ME1_DC0_SPI_BUSY", "CPC", [33, 33, NO], "cycles", "cycles in which the compute command processor launched work"),
    row("CPF_CMP_UTCL1_STALL_ON_TRANSLATION", "CPF", [20, 20, NO], "cycles", "cycles that the command fetcher waited for an address translation"),
    row("CPF_CPF_STAT_BUSY", "CPF", [23, 23, NO], "cycles", "cycles in which the command fetcher was busy"),
    row("CPF_CPF_STAT_IDLE", "CPF", [24, 24, NO], "cycles", "cycles in which the command fetcher was idle"),
    row("CPF_CPF_STAT_STALL", "CPF", [25, 25, NO], "cycles", "cycles in which the command fetcher stood still"),
    row("SPI_CSN_WINDOW_VALID", "SPI", [47, 47, NO], "cycles", "cycles in which compute work was counted"),
    row("SPI_CSN_BUSY", "SPI", [48, 48, NO], "cycles", "cycles with compute waves under way"),
    row("SPI_CSN_NUM_THREADGROUPS", "SPI", [49, 49, NO], "work-groups", "work-groups started"),
    row("SPI_CSN_WAVE", "SPI", [52, 52, NO], "waves", "compute waves started"),
    row("SPI_RA_REQ_NO_ALLOC", "SPI", [79, 79, NO], "cycles", "cycles with waves waiting for resources and none given"),
    row("SPI_RA_REQ_NO_ALLOC_CSN", "SPI", [85, 85, NO], "cycles", "cycles with compute waves waiting for resources and none given"),
    row("SPI_RA_RES_STALL_CSN", "SPI", [91, 91, NO], "cycles", "cycles with compute waves waiting because none fits"),
    row("SPI_RA_TMP_STALL_CSN", "SPI", [97, 97, NO], "cycles", "cycles with compute waves waiting for scratch memory"),
    row("SPI_RA_WAVE_SIMD_FULL_CSN", "SPI", [103, 103, NO], "SIMD-cycles", "SIMDs that could not take a wave for lack of wave slots, summed over cycles"),
    row("SPI_RA_VGPR_SIMD_FULL_CSN", "SPI", [109, 109, NO], "SIMD-cycles", "SIMDs that could not take a wave for lack of vector registers, summed over cycles"),
    row("SPI_RA_SGPR_SIMD_FULL_CSN", "SPI", [115, 115, NO], "SIMD-cycles", "SIMDs that could not take a wave for lack of scalar registers, summed over cycles"),
    row("SPI_RA_LDS_CU_FULL_CSN", "SPI", [120, 120, NO], "CU-cycles", "compute units that could not take a work-group for lack of LDS, summed over cycles"),
    row("SPI_RA_BAR_CU_FULL_CSN", "SPI", [123, 123, NO], "CU-cycles", "compute units that could not take a work-group for lack of barriers, summed over cycles"),
    row("SPI_RA_TGLIM_CU_FULL_CSN", "SPI", [127, 127, NO], "cycles", "cycles in which all compute units held as many work-groups as they may"),
    row("SPI_RA_WVLIM_STALL_CSN", "SPI", [133, 133, NO], "cycles", "cycles in which the limit of waves held compute back"),
];
