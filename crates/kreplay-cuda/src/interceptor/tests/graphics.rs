//! Memory of graphics interfaces.

use super::*;
use kreplay_engine::Decline;

fn declines(program: &Program, pointer: u64) -> bool {
    program.launch(increment("drawing"), "drawing", pointer, Stream::NULL, 0);
    match program.declined() {
        Some(reason) => reason == Decline::ImportedMemory,
        None => false,
    }
}

#[test]
fn mapped_resources_decline_until_they_are_unmapped() {
    let program = Program::new(3);
    let own = program.allocate(4096);
    let pixels = vec![0u64; 512];
    let (base, bytes, resource) = (pixels.as_ptr() as u64, 4096usize, 0x5eed_0000u64);
    let map = MappedPointerParams { pointer: &raw const base, bytes: &raw const bytes, resource };
    let resources = [1, resource];
    let unmap = UnmapResourcesParams { count: 2, resources: resources.as_ptr(), stream: Stream::NULL };
    let unregister = FirstPointer { first: resource as *mut c_void };
    for take_away in [0, 1] {
        // It is asked for twice while it is mapped.
        program.call(cbid::GRAPHICS_POINTER, "", &map, || 0);
        program.call(cbid::GRAPHICS_POINTER, "", &map, || 0);
        assert!(declines(&program, base + 100) && !declines(&program, own));
        // What fails takes nothing away.
        program.call(cbid::GRAPHICS_UNMAP, "", &unmap, || 1);
        assert!(declines(&program, base));
        program.call(cbid::GRAPHICS_POINTER, "", &map, || 0);
        match take_away {
            0 => program.call(cbid::GRAPHICS_UNMAP_PTSZ, "", &unmap, || 0),
            _ => program.call(cbid::GRAPHICS_UNREGISTER, "", &unregister, || 0),
        };
        assert!(!declines(&program, base));
    }
    assert!(locked(&program.log.warnings).iter().all(|(key, _)| *key != "region_displaced"));
}

#[test]
fn buffers_of_the_oldest_interface_are_known_by_number() {
    let program = Program::new(3);
    let pixels = vec![0u64; 512];
    let (base, bytes) = (pixels.as_ptr() as u64, 4096usize);
    // There may be anything beside the number.
    let map = MappedPointerParams { pointer: &raw const base, bytes: &raw const bytes, resource: 0xdead_0000_0007 };
    for (map_id, unmap_id) in [(cbid::GL_MAP, cbid::GL_UNMAP), (cbid::GL_MAP_ASYNC_PTSZ, cbid::GL_UNREGISTER)] {
        program.call(map_id, "", &map, || 0);
        assert!(declines(&program, base));
        program.call(unmap_id, "", &FirstPointer { first: 8 as *mut c_void }, || 0);
        assert!(declines(&program, base), "another buffer");
        program.call(unmap_id, "", &FirstPointer { first: 7 as *mut c_void }, || 0);
        assert!(!declines(&program, base));
    }
}

#[test]
fn planes_of_a_frame_decline_until_it_is_given_back() {
    let program = Program::new(3);
    let plane = {
        let _depth = crate::agent::Depth::enter();
        program.interceptor.driver.allocate(8192).expect("memory")
    };
    let mut frame = EglFrame {
        planes: [plane, 0, 0],
        width: 64,
        height: 32,
        depth: 0,
        pitch: 64,
        plane_count: 1,
        channels: 1,
        kind: 0,
    };
    let resource = 0xabc0;
    let ask = |frame: &EglFrame| {
        let p = EglFrameParams { frame: std::ptr::from_ref(frame), resource };
        program.call(cbid::GRAPHICS_EGL_FRAME, "", &p, || 0);
    };
    ask(&frame);
    assert!(!declines(&program, plane), "its planes are arrays");
    frame.kind = 1;
    ask(&frame);
    assert!(declines(&program, plane + 8188));
    let p = ReleaseFrameParams { connection: std::ptr::null_mut(), resource };
    program.call(cbid::EGL_RELEASE_FRAME, "", &p, || 0);
    assert!(!declines(&program, plane));
}
