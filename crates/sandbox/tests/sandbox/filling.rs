//! What a greedy command does. It runs inside and prints how far it got.
#![expect(unsafe_code, reason = "greed is system calls")]

use std::{
    fs::File,
    io::Write,
    os::fd::FromRawFd,
    process::exit,
    time::{Duration, Instant},
};

const MIB: usize = 1 << 20;

pub(crate) fn run(args: &[String]) -> ! {
    let number = args.get(1).and_then(|number| number.parse().ok()).unwrap_or(0);
    let text = args.get(1).map(String::as_str).unwrap_or_default();
    match args[0].as_str() {
        "use" => use_some(),
        "processes" => processes(),
        "threads" => threads(),
        "memory" => drop(memory(number)),
        "memory for a while" => {
            let _held = memory(number);
            std::thread::sleep(Duration::from_secs(2));
        }
        "memfd" => memfd(number),
        "shared" => shared(number),
        "disk" => disk(text),
        "descriptors" => descriptors(),
        "time" => time(number),
        other => panic!("unknown `{other}`"),
    }
    exit(0)
}

fn use_some() {
    let memory = touched(40);
    let mut sum = 0_u64;
    // Of the processor's time, not of a clock's on the wall: others may be using it too.
    while used() < Duration::from_millis(150) {
        sum = sum.wrapping_add(memory.iter().step_by(4096).map(|byte| u64::from(*byte)).sum());
    }
    assert!(sum > 0);
}

fn used() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is initialised and outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

/// Forks until it may not.
fn processes() {
    let mut count = 0;
    loop {
        // SAFETY: the child only sleeps, and there is one thread.
        match unsafe { libc::fork() } {
            0 => loop {
                std::thread::sleep(Duration::from_mins(1));
            },
            pid if pid > 0 => count += 1,
            _ => break,
        }
        assert!(count < 10_000, "nobody stops us");
    }
    println!("{count}");
}

fn threads() {
    let mut count = 0;
    let sleep = || std::thread::sleep(Duration::from_mins(1));
    while std::thread::Builder::new().stack_size(64 << 10).spawn(sleep).is_ok() {
        count += 1;
        assert!(count < 10_000, "nobody stops us");
    }
    println!("{count}");
}

fn touched(mib: usize) -> Vec<u8> {
    vec![1; mib * MIB]
}

fn memory(mib: usize) -> Vec<Vec<u8>> {
    let mut held = Vec::new();
    for count in 0..mib {
        let mut more = Vec::new();
        if more.try_reserve_exact(MIB).is_err() {
            println!("refused after {count} MiB");
            exit(3);
        }
        more.resize(MIB, 1_u8);
        held.push(more);
    }
    println!("got {mib} MiB");
    held
}

fn memfd(mib: usize) {
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"greedy".as_ptr(), 0) };
    if fd < 0 {
        println!("refused: {}", std::io::Error::last_os_error());
        exit(3);
    }
    // SAFETY: the descriptor is ours and new.
    let mut file = unsafe { File::from_raw_fd(fd) };
    write_much(&mut file, mib);
}

fn shared(mib: usize) {
    // SAFETY: the call takes no pointer.
    let id = unsafe { libc::shmget(libc::IPC_PRIVATE, mib * MIB, 0o600) };
    if id < 0 {
        println!("refused: {}", std::io::Error::last_os_error());
        exit(3);
    }
    // SAFETY: the segment is as long as we say; it is written to and nothing else refers to it.
    unsafe {
        let start = libc::shmat(id, std::ptr::null(), 0);
        assert_ne!(start as isize, -1, "{}", std::io::Error::last_os_error());
        std::ptr::write_bytes(start.cast::<u8>(), 1, mib * MIB);
    }
    println!("got {mib} MiB");
}

fn write_much(file: &mut File, mib: usize) {
    let block = vec![1; MIB];
    for count in 0..mib {
        if let Err(error) = file.write_all(&block) {
            println!("refused after {count} MiB: {error}");
            exit(3);
        }
    }
    println!("got {mib} MiB");
}

/// Writes 1 GiB to new files of 4 MiB each in this folder.
fn disk(folder: &str) {
    for count in 0..256 {
        let mut file = File::create(format!("{folder}/{count}")).unwrap();
        let block = vec![1; MIB];
        for _ in 0..4 {
            if let Err(error) = file.write_all(&block) {
                println!("refused in file {count}: {error}");
                exit(3);
            }
        }
        // So that limits are looked at before a fast disk has taken everything.
        std::thread::sleep(Duration::from_millis(2));
    }
    println!("got 1024 MiB");
}

fn descriptors() {
    let mut open = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        open.push(file);
        assert!(open.len() < 100_000, "nobody stops us");
    }
    println!("{}", open.len());
}

/// Burns processor time for so many milliseconds of a clock on the wall.
fn time(millis: usize) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(millis as u64) {
        std::hint::spin_loop();
    }
}
