//! Waves, work-groups, LDS, atomics, private memory, faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use softgpu::contract::Fault;

use crate::support::{Abi, Args, Buffer, Launch, Module, Numbers, build};

fn each(test: impl Fn(&Module, Abi)) {
    for (optimisation, abi) in [("-O0", Abi::V4), ("-O1", Abi::V5), ("-O2", Abi::V5), ("-O3", Abi::V4)] {
        let Some(code) = build("wave", optimisation, abi, &["-munsafe-fp-atomics"]) else { return };
        println!("{optimisation} {abi:?}");
        test(&Module::load(&code), abi);
    }
}

fn some_ints(seed: u64, count: usize, limit: u32) -> Vec<i32> {
    let mut numbers = Numbers::new(seed);
    (0..count).map(|_| numbers.below(limit) as i32).collect()
}

#[test]
fn ballots() {
    each(|module, abi| {
        let n = 256;
        let input: Vec<i32> = some_ints(21, n, 100).iter().map(|x| x - 50).collect();
        let (bi, bm, bc) = (Buffer::of(&input), Buffer::for_values::<u64>(n / 64), Buffer::for_values::<i32>(n));
        Launch::new(module, "ballots", abi, n as u32, 128).run(
            Args::new().buffer(&bi).buffer(&bm).buffer(&bc),
            &[&bm, &bc],
            &[&bi],
        );
        let counts = bc.read::<i32>();
        for (w, wave) in input.chunks(64).enumerate() {
            let mask = wave.iter().enumerate().fold(0u64, |m, (l, x)| m | u64::from(*x > 0) << l);
            assert_eq!(bm.read::<u64>()[w], mask);
            let odd_above = wave.iter().filter(|x| *x & 1 != 0 && **x > 5).count() as i32;
            let any = wave.contains(&77) && !wave.iter().all(|x| *x < 90);
            for (l, x) in wave.iter().enumerate() {
                let mut expected = (mask & ((1u64 << l) - 1)).count_ones() as i32;
                expected += if x & 1 != 0 { 1000 * odd_above } else { 0 };
                expected += if any { 100_000 } else { 0 };
                assert_eq!(counts[64 * w + l], expected, "lane {l} of wave {w}");
            }
        }
    });
}

#[test]
fn shuffles() {
    each(|module, abi| {
        let n = 128;
        let input = some_ints(22, n, 1 << 30);
        let (bi, bo) = (Buffer::of(&input), Buffer::for_values::<i32>(6 * n));
        Launch::new(module, "shuffles", abi, n as u32, 64).run(Args::new().buffer(&bi).buffer(&bo), &[&bo], &[&bi]);
        let out = bo.read::<i32>();
        for i in 0..n {
            let (lane, wave) = (i % 64, &input[i / 64 * 64..][..64]);
            let expected = [
                wave[(i * 7) & 63],
                wave[if lane < 3 { lane } else { lane - 3 }],
                wave[if lane + 5 > 63 { lane } else { lane + 5 }],
                wave[lane ^ 21],
                wave[lane / 8 * 8 + 2],
                wave[lane ^ 16],
            ];
            assert_eq!(out[6 * i..6 * i + 6], expected, "item {i}");
        }
    });
}

#[test]
fn data_parallel_primitives() {
    each(|module, abi| {
        let n = 64;
        let input = some_ints(23, n, 1000);
        let (bi, bo) = (Buffer::of(&input), Buffer::for_values::<i32>(n));
        Launch::new(module, "scan", abi, n as u32, 64).run(Args::new().buffer(&bi).buffer(&bo), &[&bo], &[&bi]);
        let mut sum = 0;
        let expected: Vec<i32> = input
            .iter()
            .map(|x| {
                sum += x;
                sum
            })
            .collect();
        assert_eq!(bo.read::<i32>(), expected);

        let bo = Buffer::for_values::<i32>(10 * n);
        Launch::new(module, "dpp_moves", abi, n as u32, 64).run(Args::new().buffer(&bi).buffer(&bo), &[&bo], &[&bi]);
        let out = bo.read::<i32>();
        for i in 0..n {
            let (row, at) = (i / 16 * 16, i % 16);
            let from = |other: Option<usize>| other.map_or(-1, |n| input[n]);
            let expected = [
                from(Some(i / 4 * 4 + 3 - i % 4)),
                from((at + 3 < 16).then_some(i + 3)),
                if at >= 3 { input[i - 3] } else { 0 },
                from(Some(row + (at + 12) % 16)),
                from((i < 63).then_some(i + 1)),
                from(Some((i + 63) % 64)),
                from(Some(row + 15 - at)),
                from((row % 32 == 0).then_some(i / 8 * 8 + 7 - i % 8)),
                from((i >= 32).then_some(31)),
                from(matches!(at / 4, 1 | 2).then_some(row + 5)),
            ];
            assert_eq!(out[10 * i..10 * i + 10], expected, "lane {i}");
        }
    });
}

#[test]
fn dot_products_of_another_lane() {
    each(|module, abi| {
        let n = 64;
        // Halves that are small whole numbers, so that no sum is not a number.
        let halves = |seed| some_ints(seed, n, 1 << 30).iter().map(|x| x & 0x3bff_3bff).collect::<Vec<i32>>();
        let (a, b, c) = (halves(31), halves(32), some_ints(33, n, 1000));
        let (ba, bb, bc, bo) = (Buffer::of(&a), Buffer::of(&b), Buffer::of(&c), Buffer::for_values::<i32>(12 * n));
        Launch::new(module, "dots", abi, n as u32, 64).run(
            Args::new().buffer(&ba).buffer(&bb).buffer(&bc).buffer(&bo),
            &[&bo],
            &[&ba, &bb, &bc],
        );
        let out = bo.read::<i32>();
        let mut added = [0; 4];
        for (i, lane) in out.chunks(12).enumerate() {
            for (kind, values) in lane.chunks(3).enumerate() {
                let plain = values[2];
                // The first lane of a row finds nothing to add.
                let edge = if i % 16 == 0 { c[i] } else { plain };
                assert_eq!(values[..2], [plain, edge], "kind {kind} lane {i}");
                added[kind] += usize::from(edge != c[i]);
            }
        }
        assert!(added.iter().all(|lanes| *lanes > n / 2), "{added:?}");
    });
}

#[test]
fn bitonic_sort() {
    each(|module, abi| {
        let mut numbers = Numbers::new(24);
        let keys: Vec<u32> = (0..512 * 3).map(|_| numbers.bits() as u32).collect();
        let bk = Buffer::of(&keys);
        Launch::new(module, "bitonic", abi, 256 * 3, 256).run(Args::new().buffer(&bk), &[&bk], &[]);
        let mut expected = keys;
        expected.chunks_mut(512).for_each(<[u32]>::sort_unstable);
        assert_eq!(bk.read::<u32>(), expected);
    });
}

#[test]
fn atomics_from_several_threads() {
    each(|module, abi| {
        let n = 4096u32;
        for threads in [1, 4] {
            let u = Buffer::of(&[5u32, 10_000, 0, 5000, u32::MAX, 0, 0x55, 0, 0, 0]);
            let (s, l) = (Buffer::of(&[100i32, -100]), Buffer::of(&[1u64, 2, 3, 4]));
            let (f, d) = (Buffer::of(&[1.0f32, 2.0]), Buffer::of(&[1.0f64, 2.0]));
            let launch = Launch { threads, ..Launch::new(module, "atomics", abi, n, 256) };
            let stats = launch.run(
                Args::new().buffer(&u).buffer(&s).buffer(&l).buffer(&f).buffer(&d),
                &[&u, &s, &l, &f, &d],
                &[],
            );
            assert!(stats.insts_atomic > 0 && stats.global_atomic_bytes > 0);
            let sum: u32 = (0..n).sum();
            let u = u.read::<u32>();
            assert_eq!(u[..4], [5 + sum, 10_000 - n, 999, 3]);
            assert_eq!(u[4..7], [0x10, 0xffff, 0x55 ^ (0..n).fold(0, |x, i| x ^ i)]);
            // Counting up to 99 and starting again; down from 50.
            assert_eq!(u[7..9], [n % 100, (0..n).fold(0, |x, _| if x == 0 || x > 50 { 50 } else { x - 1 })]);
            assert_eq!(s.read::<i32>(), [-50, 49]);
            let expected = [1 + (u64::from(sum) << 20), u64::from(n - 1) << 33, 5, 4 + 3 * u64::from(n)];
            assert_eq!(l.read::<u64>(), expected);
            assert_eq!(f.read::<f32>(), [1.0 + 0.5 * n as f32, 2.0 + 2.0 * n as f32]);
            assert_eq!(d.read::<f64>(), [1.0 + 0.25 * f64::from(n), 2.0 + 3.0 * f64::from(n)]);
        }
    });
}

#[test]
fn local_atomics() {
    each(|module, abi| {
        let n = 256;
        let input = some_ints(25, n, 1 << 20);
        let (bi, bo) = (Buffer::of(&input), Buffer::for_values::<u32>(n + 18));
        Launch::new(module, "local_atomics", abi, n as u32, n as u16).run(
            Args::new().buffer(&bi).buffer(&bo),
            &[&bo],
            &[&bi],
        );
        let mut expected = vec![1u32; n];
        expected.extend((0..16).map(|k| input.iter().filter(|x| **x & 15 == k).count() as u32));
        expected.push(input.iter().sum::<i32>() as u32);
        expected.push(n as u32);
        assert_eq!(bo.read::<u32>(), expected);
    });
}

fn fibonacci(n: i32) -> i32 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

#[test]
fn private_memory_and_recursion() {
    each(|module, abi| {
        let n = 192;
        let input = some_ints(26, n, 1 << 12);
        let (bi, bo) = (Buffer::of(&input), Buffer::for_values::<i32>(2 * n));
        Launch::new(module, "privates", abi, n as u32, 96).run(
            Args::new().buffer(&bi).buffer(&bo).int(n as i32),
            &[&bo],
            &[&bi],
        );
        let out = bo.read::<i32>();
        for i in 0..n {
            let mut table: [i32; 32] = std::array::from_fn(|k| input[(i + k) % n]);
            let small: [i16; 16] = std::array::from_fn(|k| (table[2 * k] ^ k as i32) as i16);
            let x = input[i];
            let sum = (0..8)
                .map(|k| table[((x + k * 5) & 31) as usize].wrapping_mul(small[(((x >> 3) + k) & 15) as usize].into()))
                .fold(0, i32::wrapping_add);
            let at = if x & 1 != 0 { 3 } else { 9 };
            table[at] = table[at].wrapping_add(sum);
            let expected = [table[3].wrapping_add(table[9].wrapping_mul(3)), fibonacci(x & 7)];
            assert_eq!(out[2 * i..2 * i + 2], expected, "item {i}");
        }
    });
}

#[test]
fn module_variables() {
    each(|module, abi| {
        let bo = Buffer::for_values::<i32>(64);
        Launch::new(module, "variables", abi, 64, 64).run(Args::new().buffer(&bo), &[&bo], &[]);
        assert_eq!(bo.read::<i32>(), (0..64).map(|i| [20, 30, 50, 70][i & 3]).collect::<Vec<_>>());
        let image = module.image();
        let at = (module.symbol("counter") - image.address()) as usize / 4;
        assert_eq!(image.read::<i32>()[at], 5 + 16 * (2 + 3 + 5 + 7));
    });
}

#[test]
fn workgroups_and_waves_that_wait_for_each_other() {
    each(|module, abi| {
        let groups = 12;
        for seed in [None, Some(1), Some(2)] {
            let flags = Buffer::of(&vec![0i32; groups + 1]);
            let out = Buffer::of(&vec![0i32; groups + 1]);
            let launch = Launch { seed, ..Launch::new(module, "hand_over", abi, 64 * groups as u32, 64) };
            launch.run(Args::new().buffer(&flags).buffer(&out), &[&flags, &out], &[]);
            let expected: Vec<i32> = (0..=groups as i32).rev().collect();
            assert_eq!(out.read::<i32>(), expected);

            let out = Buffer::for_values::<i32>(4);
            let launch = Launch { seed, ..Launch::new(module, "waves_wait", abi, 256, 256) };
            launch.run(Args::new().buffer(&out), &[&out], &[]);
            assert_eq!(out.read::<i32>(), [3, 2, 1, 0]);
        }
        let out = Buffer::of(&vec![-1i32; 192]);
        Launch::new(module, "early_out", abi, 192, 192).run(Args::new().buffer(&out), &[&out], &[]);
        let expected: Vec<i32> = (0..192).map(|i| if i < 64 { -1 } else { i }).collect();
        assert_eq!(out.read::<i32>(), expected);
    });
}

#[test]
fn faults_name_what_happened() {
    each(|module, abi| {
        let out = Buffer::for_values::<i32>(128);
        let run = |kernel: &str, args: Args, threads| {
            Launch { threads, ..Launch::new(module, kernel, abi, 128, 128) }.try_run(args, &[&out], &[])
        };
        let trapped = run("traps", Args::new().buffer(&out), 1);
        assert!(matches!(trapped, Err(Fault::Trap { id: 2, .. })), "{trapped:?}");
        for threads in [1, 3] {
            let wild = run("wild", Args::new().buffer(&out).long(1 << 40), threads);
            let Err(Fault::BadAddress { access, .. }) = wild else { panic!("{wild:?}") };
            assert_eq!((access.address, access.write), (out.address() + (4 << 40), true));
        }
        // A store to read-only memory is one to memory that is not mapped for it.
        let launch = Launch::new(module, "wild", abi, 128, 128);
        let fault = launch.try_run(Args::new().buffer(&out).long(0), &[], &[&out]);
        assert!(matches!(fault, Err(Fault::BadAddress { access, .. }) if access.write), "{fault:?}");
    });
}

#[test]
fn dimensions_and_dynamic_lds() {
    each(|module, abi| {
        let out = Buffer::of(&vec![-1i32; 20 * 10 * 6]);
        // Work-groups at the end of each dimension are smaller: 20 = 8 + 8 + 4, 9 = 4 + 4 + 1, 5 = 2 + 2 + 1.
        let launch = Launch { grid: [20, 9, 5], workgroup: [8, 4, 2], ..Launch::new(module, "dimensions", abi, 1, 1) };
        let stats = launch.run(Args::new().buffer(&out), &[&out], &[]);
        assert_eq!(stats.workitems, 20 * 9 * 5);
        assert_eq!(stats.workgroups, 27);
        let out = out.read::<i32>();
        for (x, y, z) in (0..20).flat_map(|x| (0..9).flat_map(move |y| (0..5).map(move |z| (x, y, z)))) {
            let expected = x + 100 * y + 10_000 * z;
            assert_eq!(out[((z * 10 + y) * 20 + x) as usize], expected, "{x}, {y}, {z}");
        }

        let n = 256;
        let input = some_ints(27, n, 1 << 30);
        let (bi, bo) = (Buffer::of(&input), Buffer::for_values::<i32>(n));
        let launch = Launch { group_bytes: 512, ..Launch::new(module, "dynamic_lds", abi, n as u32, 128) };
        launch.run(Args::new().buffer(&bi).buffer(&bo), &[&bo], &[&bi]);
        let expected: Vec<i32> = input.chunks(128).flat_map(|c| c.iter().rev().copied()).collect();
        assert_eq!(bo.read::<i32>(), expected);
    });
}

#[test]
fn generic_pointers() {
    each(|module, abi| {
        let input = some_ints(28, 64, 1000);
        let bi = Buffer::of(&input);
        for which in 0..3 {
            let bo = Buffer::for_values::<i32>(128);
            Launch::new(module, "generic", abi, 64, 64).run(
                Args::new().buffer(&bi).buffer(&bo).int(which),
                &[&bo],
                &[&bi],
            );
            let first: Vec<i32> = (0..64)
                .map(|i| match which {
                    0 => input[63 - i],
                    1 => i as i32 % 4 + 1,
                    _ => input[i],
                })
                .collect();
            let plus = if which < 2 { 100 } else { 0 };
            let expected: Vec<i32> = first.iter().copied().chain(first.iter().map(|x| x + plus)).collect();
            assert_eq!(bo.read::<i32>(), expected, "pointer {which}");
        }
    });
}

#[test]
fn a_spinning_dispatch_can_be_cancelled() {
    each(|module, abi| {
        let flag = Buffer::of(&[0i32]);
        let cancel = Arc::new(AtomicBool::new(false));
        let later = cancel.clone();
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            later.store(true, Ordering::Relaxed);
        });
        let launch = Launch { cancel: Some(cancel), ..Launch::new(module, "spin", abi, 64, 64) };
        let result = launch.try_run(Args::new().buffer(&flag), &[], &[&flag]);
        canceller.join().expect("the thread ends");
        assert_eq!(result, Err(Fault::Cancelled));
    });
}
