//! Names of registers and constants.

use crate::isa::{Inst, Operand};

/// An operand of `width` dwords.
pub(super) fn name(inst: &Inst, operand: Operand, width: u8) -> String {
    let number = operand.0;
    if let Some(integer) = operand.inline_integer() {
        return integer.to_string();
    }
    match number {
        0..=101 => range("s", number, width),
        102 | 104 | 106 | 126 => special(number, width),
        103 | 105 | 107 | 127 => special(number, 1),
        108..=123 => range("ttmp", number - 108, width),
        124 => "m0".into(),
        235 => "src_shared_base".into(),
        236 => "src_shared_limit".into(),
        237 => "src_private_base".into(),
        238 => "src_private_limit".into(),
        239 => "src_pops_exiting_wave_id".into(),
        240 => "0.5".into(),
        241 => "-0.5".into(),
        242 => "1.0".into(),
        243 => "-1.0".into(),
        244 => "2.0".into(),
        245 => "-2.0".into(),
        246 => "4.0".into(),
        247 => "-4.0".into(),
        248 => "0.15915494".into(),
        251 => "src_vccz".into(),
        252 => "src_execz".into(),
        253 => "src_scc".into(),
        254 => "src_lds_direct".into(),
        255 => format!("{:#x}", inst.literal),
        256..=511 => range("v", number - 256, width),
        512..=767 => range("a", number - 512, width),
        _ => "off".into(),
    }
}

/// A register, or a tuple of registers.
fn range(file: &str, number: u16, width: u8) -> String {
    match width {
        0 | 1 => format!("{file}{number}"),
        _ => format!("{file}[{number}:{}]", number + u16::from(width) - 1),
    }
}

/// The pairs with names.
fn special(number: u16, width: u8) -> String {
    let name = match number & !1 {
        102 => "flat_scratch",
        104 => "xnack_mask",
        106 => "vcc",
        _ => "exec",
    };
    match (width, number & 1) {
        (2, 0) => name.into(),
        (_, 0) => format!("{name}_lo"),
        _ => format!("{name}_hi"),
    }
}
