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
        "bomb" => bomb(text, args[2].parse().unwrap()),
        "memfd" => memfd(number),
        "shared" => shared(number),
        "disk" => disk(text),
        "descriptors" => descriptors(),
        "time" => time(number),
        other => panic!("unknown `{other}`"),
    }
    exit(0)
}

/// Takes memory in one of many ways, and says `+` for every MiB it has got.
fn bomb(kind: &str, mib: usize) {
    match kind {
        "one process" => grow(mib),
        "many processes" => forks(8, || grow(mib / 8)),
        "copied pages" => {
            let mut block = vec![1_u8; 128 * MIB];
            print!("{}", "+".repeat(128));
            forks(8, || {
                for page in block.chunks_mut(MIB) {
                    page.fill(2);
                    say();
                }
                std::thread::sleep(Duration::from_secs(20));
            });
        }
        "memfd" => memfd_bomb(mib),
        "system v" => shared(mib),
        "hidden shared mappings" => hidden(mib),
        "a folder in memory" => {
            let mut file = File::create("/dev/shm/bomb").unwrap_or_else(|_| exit(3));
            fill(&mut file, mib);
        }
        "page tables" => page_tables(mib),
        "churn" => churn(Duration::from_millis(mib as u64)),
        "forks" => {
            let block = vec![1_u8; mib * MIB];
            forks(8, || {
                let sum: u64 = block.iter().step_by(4096).map(|byte| u64::from(*byte)).sum();
                assert!(sum > 0);
                std::thread::sleep(Duration::from_millis(700));
            });
        }
        "reserve" => {
            let start = map(mib * MIB, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_NORESERVE);
            assert_ne!(start as isize, -1, "{}", std::io::Error::last_os_error());
            std::thread::sleep(Duration::from_millis(300));
        }
        other => panic!("unknown `{other}`"),
    }
}

/// One system call, so that what was said before the end is there.
fn say() {
    // SAFETY: the text is one byte and outlives the call.
    unsafe { libc::write(1, c"+".as_ptr().cast(), 1) };
}

fn map(length: usize, rights: i32, flags: i32) -> *mut u8 {
    let flags = flags | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping, wherever the kernel likes it.
    unsafe { libc::mmap(std::ptr::null_mut(), length, rights, flags, -1, 0).cast() }
}

fn touch(length: usize, flags: i32) -> *mut u8 {
    let start = map(length, libc::PROT_READ | libc::PROT_WRITE, flags);
    if start as isize == -1 {
        println!("refused: {}", std::io::Error::last_os_error());
        exit(3);
    }
    // SAFETY: the mapping is as long as that, and ours.
    unsafe { std::ptr::write_bytes(start, 1, length) };
    start
}

fn grow(mib: usize) {
    for _ in 0..mib {
        touch(MIB, libc::MAP_PRIVATE);
        say();
    }
}

/// Runs `task` in so many processes at once, and fails if one of them was ended.
fn forks(count: usize, mut task: impl FnMut()) {
    for _ in 0..count {
        // SAFETY: there is one thread.
        match unsafe { libc::fork() } {
            0 => {
                task();
                exit(0)
            }
            pid => assert!(pid > 0, "{}", std::io::Error::last_os_error()),
        }
    }
    let mut failed = false;
    for _ in 0..count {
        let mut status = 0;
        // SAFETY: the status is initialised and outlives the call.
        unsafe { libc::wait(&raw mut status) };
        failed |= status != 0;
    }
    exit(if failed { 3 } else { 0 })
}

fn memfd_bomb(mib: usize) {
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"greedy".as_ptr(), 0) };
    if fd < 0 {
        println!("refused: {}", std::io::Error::last_os_error());
        exit(3);
    }
    // SAFETY: the descriptor is ours and new.
    fill(&mut unsafe { File::from_raw_fd(fd) }, mib);
}

fn fill(file: &mut File, mib: usize) {
    let block = vec![1; MIB];
    for _ in 0..mib {
        if file.write_all(&block).is_err() {
            exit(3);
        }
        say();
    }
}

/// Memory that is in use, and that nobody has mapped at the moment.
fn hidden(mib: usize) {
    const PIECE: usize = 8 * MIB;
    for _ in 0..mib / 8 {
        let start = touch(PIECE, libc::MAP_SHARED);
        // SAFETY: the mapping is as long as that, and ours.
        unsafe { libc::madvise(start.cast(), PIECE, libc::MADV_DONTNEED) };
        (0..8).for_each(|_| say());
    }
}

/// Reads so sparsely that there is nothing but tables: one of 4 KiB for each 2 MiB.
fn page_tables(mib: usize) {
    let length = mib * 512 * MIB;
    let start = map(length, libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_NORESERVE);
    assert_ne!(start as isize, -1, "{}", std::io::Error::last_os_error());
    // SAFETY: the mapping is ours; a huge page of zeroes would need no table.
    unsafe { libc::madvise(start.cast(), length, libc::MADV_NOHUGEPAGE) };
    for (count, at) in (0..length).step_by(2 * MIB).enumerate() {
        // SAFETY: the byte lies in the mapping.
        let byte = unsafe { start.add(at).read_volatile() };
        assert_eq!(byte, 0);
        if count % 256 == 255 {
            say();
        }
    }
}

/// Processes that take a little and end at once.
fn churn(how_long: Duration) {
    let start = Instant::now();
    while start.elapsed() < how_long {
        // SAFETY: there is one thread.
        match unsafe { libc::fork() } {
            0 => {
                touch(MIB, libc::MAP_PRIVATE);
                exit(0)
            }
            pid => assert!(pid > 0, "{}", std::io::Error::last_os_error()),
        }
        // SAFETY: no status is asked for.
        unsafe { libc::wait(std::ptr::null_mut()) };
    }
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
