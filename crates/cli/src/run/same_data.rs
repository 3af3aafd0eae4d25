//! Whether two paths lead to the same data.

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::Path;

/// Whether two paths lead to the same data: the same file or folder, by any way, or a copy of the file.
pub fn same_data(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().ok();
    if one == other || canonical(one).is_some_and(|path| Some(path) == canonical(other)) {
        return true;
    }
    let (Ok(first), Ok(second)) = (fs::metadata(one), fs::metadata(other)) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // A hard link, or another mount of the same folder.
        if (first.dev(), first.ino()) == (second.dev(), second.ino()) {
            return true;
        }
    }
    let copies = first.is_file() && second.is_file() && first.len() == second.len();
    copies && content(one).is_some_and(|hash| Some(hash) == content(other))
}

fn content(file: &Path) -> Option<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut file = File::open(file).ok()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).ok()? {
            0 => return Some(hash.finalize().to_vec()),
            count => hash.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn links_other_ways_and_copies_lead_to_the_same_data() {
        let folder = std::env::temp_dir().join(format!("tacita-same-{}", std::process::id()));
        fs::create_dir_all(folder.join("below")).unwrap();
        let [one, other, copy, link] =
            ["a.csv", "b.csv", "copy.csv", "link.csv"].map(|n| folder.join(n));
        fs::write(&one, "x,y\n1,2\n").unwrap();
        fs::write(&other, "x,y\n1,3\n").unwrap();
        fs::copy(&one, &copy).unwrap();
        fs::hard_link(&one, &link).unwrap();
        let around = folder.join("below/../a.csv");
        for same in [&one, &copy, &link, &around] {
            assert!(same_data(&one, same), "{}", same.display());
        }
        assert!(!same_data(&one, &other) && !same_data(&one, &folder.join("none.csv")));
        fs::remove_dir_all(&folder).unwrap();
    }
}
