//! Which instructions are executed: all of the tables but those listed here; and none of them panics.

use super::code::Slot;
use super::stats::Class;
use super::step::{Cx, Stop, execute_for_test};
use super::wave::{State, Wave};
use crate::contract::{BadAddress, Mapping, Memory};
use crate::isa::{Family, Form, Inst, Operand, Segment, table};
use proptest::prelude::*;

struct NoMemory;

// SAFETY: it never gives out a pointer.
unsafe impl Memory for NoMemory {
    fn host(&self, address: u64, bytes: u64, write: bool) -> Result<*mut u8, BadAddress> {
        Err(BadAddress { address, bytes, write })
    }

    fn mapping(&self, address: u64) -> Result<Mapping, BadAddress> {
        Err(BadAddress { address, bytes: 1, write: false })
    }

    fn oracle(&self) -> bool {
        false
    }

    fn will_write(&self, _: u64, _: u64, _: u64) {}
}

/// An instruction of a row with plausible operands.
fn instance(family: Family, row: &'static table::Row) -> Inst {
    let scalar =
        matches!(family, Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp | Family::Smem);
    let operand = |width: u8, number: u32| match (width, scalar) {
        (0, _) => Operand::NONE,
        (_, true) => Operand::scalar(number),
        (_, false) => Operand::vector(number),
    };
    let mut inst = crate::isa::decode(&[0xbf80_0000]).expect("s_nop 0");
    inst.family = family;
    inst.form = if scalar { Form::Plain } else { Form::Vop3 };
    inst.op = row.code;
    inst.row = row;
    inst.imm = if family == Family::Sopk { 1 } else { 0 };
    inst.dst = match row.dst {
        ..0 => Operand::scalar(4),
        width => operand(width.unsigned_abs(), 4),
    };
    inst.sdst = Operand::VCC;
    inst.src = std::array::from_fn(|k| operand(row.src[k], 8 + 4 * k as u32));
    match family {
        Family::Flat => {
            inst.segment = Segment::Global;
            inst.src[0] = Operand::vector(0);
            inst.src[2] = Operand::NONE;
        }
        Family::Mubuf => inst.src[1] = Operand::scalar(0),
        _ => {}
    }
    inst
}

fn is_executed(family: Family, row: &'static table::Row) -> bool {
    let inst = instance(family, row);
    let memory = NoMemory;
    let mut cx = Cx::new_for_test(&memory);
    let mut wave = Wave::new();
    wave.state = State::Ready;
    wave.exec = 1;
    let slot = Slot { inst, class: Class::of(&inst), plain: true };
    !matches!(execute_for_test(&mut cx, &mut wave, &slot), Err(Stop::Unsupported(_)))
}

/// Graphics, debugging and trap-handler instructions, and the formatted buffer accesses.
const NOT_EXECUTED: &str = "
    S_RFE_B64 S_CBRANCH_JOIN S_CBRANCH_G_FORK S_RFE_RESTORE_B64 S_CBRANCH_I_FORK S_SETVSKIP S_SETKILL S_SETHALT
    S_SENDMSG S_SENDMSGHALT S_CBRANCH_CDBGSYS S_CBRANCH_CDBGUSER S_CBRANCH_CDBGSYS_OR_USER
    S_CBRANCH_CDBGSYS_AND_USER S_ENDPGM_ORDERED_PS_DONE S_SCRATCH_LOAD_DWORD S_SCRATCH_LOAD_DWORDX2
    S_SCRATCH_LOAD_DWORDX4 S_SCRATCH_STORE_DWORD S_SCRATCH_STORE_DWORDX2 S_SCRATCH_STORE_DWORDX4 S_ATC_PROBE
    S_ATC_PROBE_BUFFER S_DCACHE_DISCARD S_DCACHE_DISCARD_X2 S_BUFFER_ATOMIC_SWAP S_BUFFER_ATOMIC_CMPSWAP
    S_BUFFER_ATOMIC_ADD S_BUFFER_ATOMIC_SUB S_BUFFER_ATOMIC_SMIN S_BUFFER_ATOMIC_UMIN S_BUFFER_ATOMIC_SMAX
    S_BUFFER_ATOMIC_UMAX S_BUFFER_ATOMIC_AND S_BUFFER_ATOMIC_OR S_BUFFER_ATOMIC_XOR S_BUFFER_ATOMIC_INC
    S_BUFFER_ATOMIC_DEC S_BUFFER_ATOMIC_SWAP_X2 S_BUFFER_ATOMIC_CMPSWAP_X2 S_BUFFER_ATOMIC_ADD_X2
    S_BUFFER_ATOMIC_SUB_X2 S_BUFFER_ATOMIC_SMIN_X2 S_BUFFER_ATOMIC_UMIN_X2 S_BUFFER_ATOMIC_SMAX_X2
    S_BUFFER_ATOMIC_UMAX_X2 S_BUFFER_ATOMIC_AND_X2 S_BUFFER_ATOMIC_OR_X2 S_BUFFER_ATOMIC_XOR_X2
    S_BUFFER_ATOMIC_INC_X2 S_BUFFER_ATOMIC_DEC_X2 S_ATOMIC_SWAP S_ATOMIC_CMPSWAP S_ATOMIC_ADD S_ATOMIC_SUB
    S_ATOMIC_SMIN S_ATOMIC_UMIN S_ATOMIC_SMAX S_ATOMIC_UMAX S_ATOMIC_AND S_ATOMIC_OR S_ATOMIC_XOR S_ATOMIC_INC
    S_ATOMIC_DEC S_ATOMIC_SWAP_X2 S_ATOMIC_CMPSWAP_X2 S_ATOMIC_ADD_X2 S_ATOMIC_SUB_X2 S_ATOMIC_SMIN_X2
    S_ATOMIC_UMIN_X2 S_ATOMIC_SMAX_X2 S_ATOMIC_UMAX_X2 S_ATOMIC_AND_X2 S_ATOMIC_OR_X2 S_ATOMIC_XOR_X2
    S_ATOMIC_INC_X2 S_ATOMIC_DEC_X2 V_SCREEN_PARTITION_4SE_B32 V_CUBEID_F32 V_CUBESC_F32 V_CUBETC_F32 V_CUBEMA_F32
    V_QSAD_PK_U16_U8 V_MQSAD_PK_U16_U8 V_MQSAD_U32_U8 V_CVT_PKACCUM_U8_F32 DS_WRITE_ADDTID_B32 DS_WRXCHG2_RTN_B32
    DS_WRXCHG2ST64_RTN_B32 DS_WRXCHG2_RTN_B64 DS_WRXCHG2ST64_RTN_B64 DS_CONDXCHG32_RTN_B64 DS_READ_ADDTID_B32
    BUFFER_LOAD_FORMAT_X BUFFER_LOAD_FORMAT_XY BUFFER_LOAD_FORMAT_XYZ BUFFER_LOAD_FORMAT_XYZW BUFFER_STORE_FORMAT_X
    BUFFER_STORE_FORMAT_XY BUFFER_STORE_FORMAT_XYZ BUFFER_STORE_FORMAT_XYZW BUFFER_LOAD_FORMAT_D16_X
    BUFFER_LOAD_FORMAT_D16_XY BUFFER_LOAD_FORMAT_D16_XYZ BUFFER_LOAD_FORMAT_D16_XYZW BUFFER_STORE_FORMAT_D16_X
    BUFFER_STORE_FORMAT_D16_XY BUFFER_STORE_FORMAT_D16_XYZ BUFFER_STORE_FORMAT_D16_XYZW BUFFER_LOAD_FORMAT_D16_HI_X
    BUFFER_STORE_FORMAT_D16_HI_X
";

#[test]
fn every_instruction_is_executed_or_listed() {
    let missing: Vec<&str> = Family::ALL
        .into_iter()
        .flat_map(|family| table::rows_of(family).iter().filter(move |row| !is_executed(family, row)))
        .map(|row| row.name)
        .collect();
    let listed: Vec<&str> = NOT_EXECUTED.split_whitespace().collect();
    assert_eq!(missing, listed);
}

/// Runs whatever words decode to.
fn run_words(words: [u32; 2], registers: u64) {
    let Ok(inst) = crate::isa::decode(&words) else { return };
    let memory = NoMemory;
    let mut cx = Cx::new_for_test(&memory);
    cx.lds = vec![0x55aa_55aa; 64];
    let mut wave = Wave::new();
    wave.state = State::Ready;
    wave.exec = registers;
    wave.set_mode(registers as u32 & 0x3ff);
    for number in 0..126 {
        wave.set_s(number, (registers >> (number % 33)) as u32);
    }
    for number in 0..256 {
        let lanes = wave.v_mut(Operand::vector(number), 0);
        lanes.0.iter_mut().enumerate().for_each(|(lane, value)| *value = (registers >> (lane / 2)) as u32 ^ number);
    }
    let plain = !matches!(inst.form, Form::Sdwa | Form::Dpp) && inst.neg == 0 && inst.abs == 0 && inst.opsel == 0;
    let slot = Slot { plain, class: Class::of(&inst), inst };
    // Whether it can be done is not the question here.
    let _ = execute_for_test(&mut cx, &mut wave, &slot);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_instruction_panics(
        prefix in prop::sample::select(vec![0u32, 0x2000_0000, 0x4000_0000, 0x6000_0000, 0x7c00_0000, 0x7e00_0000,
            0x8000_0000, 0x9000_0000, 0xb000_0000, 0xbe80_0000, 0xbf00_0000, 0xc000_0000, 0xc100_0000, 0xd000_0000,
            0xd100_0000, 0xd1c0_0000, 0xd280_0000, 0xd380_0000, 0xd800_0000, 0xd900_0000, 0xdc00_0000, 0xe000_0000]),
        rest: u32,
        second: u32,
        registers: u64,
    ) {
        run_words([prefix | rest & 0x03ff_ffff, second], registers);
    }
}
