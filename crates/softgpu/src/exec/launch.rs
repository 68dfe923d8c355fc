//! What a dispatch asks for: the kernel descriptor, and the registers that a wave starts with.
//!
//! Source: LLVM's "User Guide for AMDGPU Backend", sections "Kernel Descriptor" and "Initial Kernel Execution State".

use super::memory::MapCache;
use super::wave::{LANES, Wave};
use crate::contract::{DispatchRequest, Fault, Memory};

/// LDS of a compute unit, in bytes.
const LDS_BYTES: u32 = 64 * 1024;
/// Most work-items in a work-group.
const WORKGROUP_ITEMS: u32 = 1024;
/// Most private memory of a work-item: 13 bits of 256-dword blocks a wave of 64.
const PRIVATE_BYTES: u32 = 0x1fff * 1024 / 64;

/// A dispatch, made ready to start waves.
pub(super) struct Launch {
    pub(super) request: DispatchRequest,
    pub(super) entry: u64,
    pub(super) vgprs: usize,
    pub(super) accum_offset: usize,
    pub(super) mode: u32,
    pub(super) groups: [u32; 3],
    pub(super) lds_bytes: usize,
    /// Private memory of a lane, in bytes, a multiple of four.
    pub(super) private_bytes: u32,
    properties: u32,
    rsrc2: u32,
    preload: u32,
    /// Words 1–3 of the private segment's buffer resource, with the base left out.
    scratch_words: [u32; 3],
}

impl Launch {
    /// Reads and checks the kernel descriptor.
    pub(super) fn new(request: &DispatchRequest, memory: &dyn Memory) -> Result<Launch, Fault> {
        let mut maps = MapCache::new(memory, request.id);
        let mut word = |offset: u64| {
            maps.read_u32(request.kernel_object + offset)
                .map_err(|bad| Fault::BadDispatch(format!("the kernel descriptor cannot be read: {bad}")))
        };
        let group_fixed = word(0)?;
        let entry_offset = u64::from(word(16)?) | u64::from(word(20)?) << 32;
        let rsrc3 = word(44)?;
        let rsrc1 = word(48)?;
        let rsrc2 = word(52)?;
        let last = word(56)?;
        let (properties, preload) = (last & 0xffff, last >> 16);

        let bad = |what: String| Err(Fault::BadDispatch(what));
        if properties >> 10 & 1 != 0 {
            return bad("the kernel is for waves of 32 lanes; this GPU has waves of 64".into());
        }
        let items = request.workgroup.iter().map(|&n| u32::from(n)).product::<u32>();
        if items == 0 || items > WORKGROUP_ITEMS {
            return bad(format!(
                "a work-group of {:?} work-items; 1 to {WORKGROUP_ITEMS} are possible",
                request.workgroup
            ));
        }
        if request.grid.contains(&0) {
            return bad(format!("a grid of {:?} work-items", request.grid));
        }
        let lds = request.group_bytes.max(group_fixed);
        if lds > LDS_BYTES {
            return bad(format!("{lds} bytes of LDS a work-group; there are {LDS_BYTES}"));
        }
        if request.private_bytes > PRIVATE_BYTES {
            return bad(format!(
                "{} bytes of private memory a work-item; at most {PRIVATE_BYTES}",
                request.private_bytes
            ));
        }
        // Round and denormal fields, DX10_CLAMP, IEEE, FP16_OVFL.
        let mode = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23;
        let vgprs = ((rsrc1 & 0x3f) as usize + 1) * 8;
        let accum_offset = ((rsrc3 & 0x3f) as usize + 1) * 4;
        let groups = std::array::from_fn(|d| request.grid[d].div_ceil(u32::from(request.workgroup[d])));
        // Without kernel arguments in registers the program starts at its entry; with them, behind the code that
        // loads them on a GPU that cannot.
        let preload_entry = if preload & 0x7f != 0 { 256 } else { 0 };
        Ok(Launch {
            request: request.clone(),
            entry: request.kernel_object.wrapping_add(entry_offset).wrapping_add(preload_entry),
            vgprs,
            accum_offset,
            mode,
            groups,
            lds_bytes: lds as usize,
            private_bytes: request.private_bytes.next_multiple_of(4),
            properties,
            rsrc2,
            preload,
            scratch_words: [0x8000_0000, 0xffff_ffff, 0x00e8_0fac],
        })
    }

    /// Work-groups of the dispatch.
    pub(super) fn group_count(&self) -> u64 {
        self.groups.iter().map(|&n| u64::from(n)).product()
    }

    /// Scratch bytes of one wave.
    pub(super) fn wave_scratch(&self) -> u64 {
        u64::from(self.private_bytes) * LANES as u64
    }

    /// Coordinates of a work-group.
    pub(super) fn group_id(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.groups.map(u64::from);
        [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
    }

    /// Work-items of a work-group in each dimension: fewer at the grid's end.
    pub(super) fn group_size(&self, id: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|d| {
            let full = u32::from(self.request.workgroup[d]);
            full.min(self.request.grid[d] - id[d] * full)
        })
    }

    /// Sets up wave `index` of work-group `id`. `scratch` is the address of the work-group's scratch.
    pub(super) fn start_wave(
        &self,
        wave: &mut Wave,
        id: [u32; 3],
        index: u32,
        scratch: u64,
        maps: &mut MapCache<'_>,
    ) -> Result<(), Fault> {
        wave.reset(self);
        wave.index = index;
        wave.scratch_offset = self.wave_scratch() * u64::from(index);
        self.start_sgprs(wave, id, scratch, maps)?;

        // Lanes: work-items of the work-group in order of x, y, z; ids packed in v0.
        let size = self.group_size(id);
        let items = size.iter().product::<u32>();
        let first = index * LANES as u32;
        wave.exec = match items - first {
            n if n >= LANES as u32 => u64::MAX,
            n => (1 << n) - 1,
        };
        let dims = self.rsrc2 >> 11 & 3;
        let v0 = wave.v_mut(crate::isa::Operand::vector(0), 0);
        let (mut x, mut y, mut z) = (first % size[0], first / size[0] % size[1], first / size[0] / size[1]);
        for lane in v0.0.iter_mut().take((items - first).min(LANES as u32) as usize) {
            *lane = x | if dims >= 1 { y << 10 } else { 0 } | if dims >= 2 { z << 20 } else { 0 };
            x += 1;
            if x == size[0] {
                (x, y) = (0, y + 1);
            }
            if y == size[1] {
                (y, z) = (0, z + 1);
            }
        }
        Ok(())
    }

    /// User registers in the order of the kernel's properties, then the system registers.
    fn start_sgprs(&self, wave: &mut Wave, id: [u32; 3], scratch: u64, maps: &mut MapCache<'_>) -> Result<(), Fault> {
        let mut user = Vec::with_capacity(32);
        let has = |bit: u32| self.properties >> bit & 1 != 0;
        if has(0) {
            let [w1, w2, w3] = self.scratch_words;
            user.extend([scratch as u32, (scratch >> 32) as u32 & 0xffff | w1, w2, w3]);
        }
        for (bit, value) in [
            (1, self.request.packet),
            (2, self.request.queue),
            (3, self.request.kernarg),
            (4, self.request.id),
            (5, scratch),
        ] {
            if has(bit) {
                user.extend([value as u32, (value >> 32) as u32]);
            }
        }
        if has(6) {
            user.push(self.private_bytes);
        }
        let (length, offset) = (self.preload & 0x7f, self.preload >> 7);
        for n in 0..length {
            let address = self.request.kernarg + 4 * u64::from(offset + n);
            let word = maps
                .read_u32(address)
                .map_err(|bad| Fault::BadDispatch(format!("kernel arguments cannot be read: {bad}")))?;
            user.push(word);
        }
        let declared = (self.rsrc2 >> 1 & 0x1f) as usize;
        if user.len() > declared {
            return Err(Fault::BadDispatch(format!(
                "the kernel descriptor declares {declared} user registers and asks for {}",
                user.len()
            )));
        }
        user.resize(declared, 0);

        for (d, bit) in [7, 8, 9].into_iter().enumerate() {
            if self.rsrc2 >> bit & 1 != 0 {
                user.push(id[d]);
            }
        }
        if self.rsrc2 >> 10 & 1 != 0 {
            let items: u32 = self.group_size(id).iter().product();
            let waves = items.div_ceil(LANES as u32);
            user.push(waves | u32::from(wave.index == 0) << 31);
        }
        if self.rsrc2 & 1 != 0 {
            user.push(wave.scratch_offset as u32);
        }
        for (n, word) in user.into_iter().enumerate() {
            wave.set_s(n as u16, word);
        }
        Ok(())
    }
}
