use super::*;
use std::io::Read;

fn pair(stall: Duration) -> (Link, UnixStream, Arc<AtomicBool>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let alive = Arc::new(AtomicBool::new(true));
    (Link::new(ours, Arc::clone(&alive), stall, std::process::id()), theirs, alive)
}

#[test]
fn a_frame_is_in_the_socket_when_send_returns() {
    let (link, mut theirs, _) = pair(STALL);
    assert!(link.send(vec![1, 2, 3]));
    theirs.set_nonblocking(true).unwrap();
    let mut got = [0; 3];
    theirs.read_exact(&mut got).unwrap();
    assert_eq!(got, [1, 2, 3]);
}

#[test]
fn frames_arrive_whole_and_in_order_at_a_slow_reader() {
    let (link, mut theirs, alive) = pair(STALL);
    // More than the socket and the queue hold together.
    let frames = 3000u32;
    let bytes = 16 << 10;
    let reader = std::thread::spawn(move || {
        let mut frame = vec![0; bytes];
        for expected in 0..frames {
            if expected == 0 {
                std::thread::sleep(Duration::from_millis(50));
            }
            theirs.read_exact(&mut frame).unwrap();
            assert_eq!(frame[..4], expected.to_le_bytes());
            assert_eq!(frame[bytes - 4..], expected.to_le_bytes());
        }
    });
    for number in 0..frames {
        let mut frame = vec![0; bytes];
        frame[..4].copy_from_slice(&number.to_le_bytes());
        frame[bytes - 4..].copy_from_slice(&number.to_le_bytes());
        assert!(link.send(frame));
    }
    assert!(link.flush());
    reader.join().unwrap();
    assert_eq!(link.lost(), 0);
    assert!(alive.load(Ordering::Relaxed));
}

#[test]
fn a_closed_socket_is_given_up_without_a_signal() {
    let (link, theirs, alive) = pair(STALL);
    drop(theirs);
    assert!(!link.send(vec![0; 8]));
    assert!(!alive.load(Ordering::Relaxed));
    assert!(!link.send(vec![0; 8]));
    assert_eq!(link.lost(), 2);
    assert!(!link.flush());
}

#[test]
fn a_reader_that_takes_nothing_is_given_up() {
    let (link, theirs, alive) = pair(Duration::from_millis(100));
    let mut sent = 0u64;
    while link.send(vec![0; 1 << 20]) {
        sent += 1;
        assert!(sent < 1000, "the queue has no bound");
    }
    assert!(!alive.load(Ordering::Relaxed));
    assert!(link.lost() >= 1);
    drop(theirs);
}

#[test]
fn a_reader_that_dies_while_records_wait_frees_the_program() {
    let (link, theirs, _) = pair(STALL);
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(theirs);
    });
    while link.send(vec![0; 1 << 20]) {}
    assert!(!link.flush());
    killer.join().unwrap();
}
