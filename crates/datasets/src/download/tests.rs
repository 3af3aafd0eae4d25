//! Downloads from a small server of the test's own.

use super::*;
use crate::locate::{Places, Site};
use crate::testkit::{Folder, message};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const CONTENT: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Serves one file; answers at most `cut` bytes at a time if it is given, then hangs up. Tells the
/// ranges it was asked for.
fn server(resumes: bool, cut: Option<usize>) -> (&'static str, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/set.bin", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request: Vec<String> = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(|line| line.ok().filter(|line| !line.is_empty()))
                .collect();
            let range = request.iter().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("range: bytes=")
                    .map(str::to_string)
            });
            log.lock().unwrap().push(range.clone().unwrap_or_default());
            let start = match (resumes, range) {
                (true, Some(range)) => range.trim_end_matches('-').parse().unwrap(),
                _ => 0,
            };
            if start >= CONTENT.len() {
                write!(
                    stream,
                    "HTTP/1.1 416 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )
                .unwrap();
                continue;
            }
            let status = if start > 0 { "206 part" } else { "200 all" };
            let body = &CONTENT[start..];
            write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            )
            .unwrap();
            stream
                .write_all(&body[..cut.unwrap_or(body.len()).min(body.len())])
                .unwrap();
        }
    });
    (url.leak(), asked)
}

fn sha256() -> &'static str {
    crate::hex(&Sha256::digest(CONTENT)).leak()
}

fn download(url: &'static str) -> Download {
    Download {
        url,
        file: "set.bin",
        checksum: Checksum::Content(sha256()),
    }
}

fn files(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_file_is_downloaded_once() {
    let (url, asked) = server(true, None);
    let folder = Folder::new();
    for _ in 0..2 {
        let path = fetch(&download(url), folder.path(), true).unwrap();
        assert_eq!(fs::read(path).unwrap(), CONTENT);
    }
    assert_eq!(*asked.lock().unwrap(), [""]);
    assert_eq!(files(&folder), ["set.bin"]);
}

#[test]
fn a_broken_download_goes_on_where_it_stopped() {
    let (url, asked) = server(true, Some(14));
    let folder = Folder::new();
    let path = fetch(&download(url), folder.path(), true).unwrap();
    assert_eq!(fs::read(path).unwrap(), CONTENT);
    assert_eq!(*asked.lock().unwrap(), ["", "14-", "28-"]);
}

#[test]
fn what_an_earlier_run_left_is_used() {
    let (url, asked) = server(true, None);
    let folder = Folder::new();
    folder.write("part-set.bin", &CONTENT[..10]);
    fetch(&download(url), folder.path(), true).unwrap();
    assert_eq!(*asked.lock().unwrap(), ["10-"]);

    let whole = Folder::new();
    whole.write("part-set.bin", CONTENT);
    fetch(&download(url), whole.path(), true).unwrap();
    assert_eq!(files(&whole), ["set.bin"]);
}

#[test]
fn a_server_that_cannot_resume_starts_over() {
    let (url, _) = server(false, None);
    let folder = Folder::new();
    folder.write("part-set.bin", "something else");
    let path = fetch(&download(url), folder.path(), true).unwrap();
    assert_eq!(fs::read(path).unwrap(), CONTENT);
}

#[test]
fn a_wrong_checksum_leaves_nothing_behind() {
    let (url, _) = server(true, None);
    let folder = Folder::new();
    for checksum in [Checksum::Content("00"), Checksum::File("00")] {
        let wrong = Download {
            checksum,
            ..download(url)
        };
        let error = message(fetch(&wrong, folder.path(), true));
        assert!(
            error.contains("did not send the published file; what it sent was removed"),
            "{error}"
        );
        assert!(error.contains(sha256()), "{error}");
        assert!(files(&folder).is_empty());
    }
}

#[test]
fn without_network_the_message_says_what_to_put_where() {
    let folder = Folder::new();
    folder.write("set/half.bin", "");
    let places = Places {
        data_dir: None,
        others: vec![folder.path().into()],
        downloads: Some(folder.path().join("cache")),
    };
    // Nothing listens on the port of a listener that is gone.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let unreachable: &'static str = format!("http://{gone}/set.bin").leak();
    let site = |downloads: &'static [Download]| Site {
        name: "set",
        folders: &["set", "the-set"],
        forms: &[&["set.bin"], &["half.bin", "other.bin"]],
        downloads,
        home: "https://example.org/set",
    };
    let one: &'static [Download] = vec![download(unreachable)].leak();
    let failed = message(places.find(&site(one), true, true));
    assert!(
        failed.contains("the download failed") && failed.contains(unreachable),
        "{failed}"
    );
    let off = message(places.find(&site(one), false, true));
    assert!(off.contains("downloads are turned off"), "{off}");
    let none = message(places.find(&site(&[]), true, true));
    assert!(none.contains("nobody offers it for download"), "{none}");
    for error in [failed, off, none] {
        assert!(
            error.contains("Get it from https://example.org/set"),
            "{error}"
        );
        assert!(
            error.contains("set.bin (each may end in .gz or .zst)"),
            "{error}"
        );
        assert!(error.contains("set lacks other.bin"), "{error}");
        assert!(
            error.contains(&folder.path().join("the-set").display().to_string()),
            "{error}"
        );
    }
}

#[test]
fn sets_are_found_in_the_order_of_places_and_downloaded_last() {
    let (url, asked) = server(true, None);
    let [first, second, cache] = [Folder::new(), Folder::new(), Folder::new()];
    let downloads: &'static [Download] = vec![download(url)].leak();
    let site = Site {
        name: "set",
        folders: &["set"],
        forms: &[&["set.bin"]],
        downloads,
        home: "",
    };
    let places = Places {
        data_dir: Some(first.path().into()),
        others: vec![second.path().into()],
        downloads: Some(cache.path().into()),
    };
    let folder = || places.find(&site, true, true).unwrap().folder;
    assert_eq!(folder(), cache.path().join("set"));
    assert_eq!(asked.lock().unwrap().len(), 1);
    second.write("set/set.bin.gz", "");
    assert_eq!(folder(), second.path().join("set"));
    first.write("set.bin.zst", "");
    assert_eq!(folder(), first.path());
    first.write("set/set.bin", "");
    assert_eq!(folder(), first.path().join("set"));
    assert_eq!(asked.lock().unwrap().len(), 1);
}
