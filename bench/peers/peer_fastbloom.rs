//! peer_fastbloom.rs - fastbloom, from crates.io; README.md has the arguments and the output.
use fastbloom::BloomFilter;

const REPEATS: usize = 3;

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Processor time of this thread, which the standard library does not provide.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("schedstat")
}

/// Calls with every key and counts the answers `true`; keeps the least time per key.
fn timed(keys: &[&str], least: &mut f64, mut call: impl FnMut(&str) -> bool) -> usize {
    let begin = cpu_ns();
    let count = keys.iter().filter(|key| call(key)).count();
    *least = least.min((cpu_ns() - begin) / keys.len() as f64);
    count
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text: Vec<String> = args[1..4]
        .iter()
        .map(|path| std::fs::read_to_string(path).expect(path))
        .collect();
    let (members, absent, mixed) = (lines(&text[0]), lines(&text[1]), lines(&text[2]));
    let p: f64 = args[4].parse().expect("P");
    let mut least = [f64::INFINITY; 4];
    let (mut bits, mut found, mut hits, mut new) = (0, 0, 0, 0);
    for _ in 0..REPEATS {
        let mut bloom = BloomFilter::with_false_pos(p).expected_items(members.len());
        bits = bloom.num_bits();
        timed(&members, &mut least[0], |key| !bloom.insert(key));
        hits = timed(&absent, &mut least[1], |key| bloom.contains(key));
        found = timed(&members, &mut least[2], |key| bloom.contains(key));
        let mut bloom = BloomFilter::with_false_pos(p).expected_items(members.len());
        new = timed(&mixed, &mut least[3], |key| !bloom.insert(key));
    }
    print!("{}\t{bits}\t{found}\t{hits}\t{new}", members.len());
    for ns in least {
        print!("\t{ns:.1}");
    }
    println!();
}
