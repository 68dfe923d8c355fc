//! Named sets of metrics. A set is made for what the question needs, of metrics that can be sampled as far as there are such:
//! `sm__throughput`, hits in the second-level cache and double precision would each add passes by ranges.

/// A set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it answers.
    pub(crate) description: &'static str,
    /// Its metrics. One that ends in `*` stands for every metric of the chip that begins so and ends with what follows
    /// the star.
    pub(crate) metrics: &'static [&'static str],
}

/// Every set. All but `stalls` and the operations of `roofline` can be sampled.
pub(crate) const SETS: &[Set] = &[
    Set {
        name: "basic",
        description: "time, instructions, occupancy, pipes, and the traffic of each level of memory",
        metrics: &[
            "gpu_time",
            "sm__cycles_active.avg",
            "sm__inst_executed.sum",
            "sm__inst_issued.sum",
            "sm__issue_active.sum",
            "sm__warps_active.avg.pct_of_peak_sustained_active",
            "sm__pipe_tensor_cycles_active.sum",
            "sm__inst_executed_pipe_fmaheavy.sum",
            "l1tex__t_bytes.sum",
            "l1tex__t_sector_hit_rate.pct",
            "lts__t_bytes.sum",
            "dram__bytes_read.sum",
            "dram__bytes_write.sum",
        ],
    },
    Set {
        name: "memory",
        description: "the traffic of each level of memory",
        metrics: &[
            "gpu_time",
            "l1tex__t_bytes.sum",
            "l1tex__t_sectors.sum",
            "l1tex__t_sector_hit_rate.pct",
            "lts__t_bytes.sum",
            "lts__t_sectors.sum",
            "dram__bytes_read.sum",
            "dram__bytes_write.sum",
        ],
    },
    Set {
        name: "compute",
        description: "instructions by pipe, and how busy the pipes are",
        metrics: &[
            "gpu_time",
            "sm__cycles_active.sum",
            "sm__inst_executed.sum",
            "sm__inst_issued.sum",
            "sm__inst_executed_pipe_alu.sum",
            "sm__inst_executed_pipe_fmaheavy.sum",
            "sm__inst_executed_pipe_fmalite.sum",
            "sm__inst_executed_pipe_lsu.sum",
            "sm__inst_executed_pipe_xu.sum",
            "sm__pipe_tensor_cycles_active.sum",
        ],
    },
    Set {
        name: "occupancy",
        description: "how many warps are there to run",
        metrics: &[
            "gpu_time",
            "sm__warps_active.avg.pct_of_peak_sustained_active",
            "sm__warps_active.avg.per_cycle_active",
            "sm__threads_launched.sum",
            "sm__cycles_active.avg",
        ],
    },
    Set {
        name: "stalls",
        description: "what warps wait for",
        metrics: &["gpu_time", "smsp__average_warps_issue_stalled_*_per_issue_active.ratio"],
    },
    Set {
        name: "roofline",
        description: "floating-point work and the bytes that each level of memory moved for it",
        metrics: &[
            "gpu_time",
            "dram__bytes.sum",
            "lts__t_bytes.sum",
            "l1tex__t_bytes.sum",
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
            "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
            "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
            "sm__sass_thread_inst_executed_op_dadd_pred_on.sum",
            "sm__sass_thread_inst_executed_op_dmul_pred_on.sum",
            "sm__sass_thread_inst_executed_op_dfma_pred_on.sum",
            "sm__sass_thread_inst_executed_op_hadd_pred_on.sum",
            "sm__sass_thread_inst_executed_op_hmul_pred_on.sum",
            "sm__sass_thread_inst_executed_op_hfma_pred_on.sum",
        ],
    },
];

/// The set of this name.
pub(crate) fn find(name: &str) -> Option<&'static Set> {
    SETS.iter().find(|set| set.name == name)
}
