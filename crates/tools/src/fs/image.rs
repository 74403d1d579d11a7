//! Images, as far as a model needs to be told.

use tool::FilePath;

/// Name and media type, if the file begins like an image.
pub(crate) fn kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let begins = |magic: &[u8]| head.starts_with(magic);
    if begins(b"\x89PNG\r\n\x1a\n") {
        Some(("PNG", "image/png"))
    } else if begins(b"\xff\xd8\xff") {
        Some(("JPEG", "image/jpeg"))
    } else if begins(b"GIF87a") || begins(b"GIF89a") {
        Some(("GIF", "image/gif"))
    } else if begins(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some(("WebP", "image/webp"))
    } else {
        None
    }
}

/// Kind and size in words.
pub(crate) fn describe(path: &FilePath, name: &str, data: &[u8]) -> String {
    let bytes = data.len();
    match imagesize::blob_size(data) {
        Ok(size) => {
            format!("{name} image `{path}`, {}x{} pixels, {bytes} bytes", size.width, size.height)
        }
        Err(_) => format!("{name} image `{path}`, {bytes} bytes"),
    }
}
