//! Gemini `generateContent`.

use std::fmt::Write as _;

use super::vendor::Vendor;

pub(super) const GENERATE: Vendor = Vendor {
    path,
    auth: |key| ("x-goog-api-key", key.to_owned()),
    headers: &[],
    too_long: &["exceeds the maximum number of tokens", "input token count"],
    // Said with 400, like everything else that is wrong with a request.
    bad_key: &["api_key_invalid", "api key not valid", "api key expired"],
};

/// The model is part of the path, so nothing in its name may mean anything there.
fn path(model: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let mut written = String::with_capacity(model.len());
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            written.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(written, "%{byte:02X}");
        }
    }
    format!("/v1beta/models/{written}:streamGenerateContent?alt=sse")
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn a_model_is_one_part_of_the_path() {
        for (model, expected) in [
            ("gemini-3.8-flash", "gemini-3.8-flash"),
            ("models/gemini-3.8-flash", "gemini-3.8-flash"),
            ("../../v1/files?x=", "..%2F..%2Fv1%2Ffiles%3Fx%3D"),
            ("ü", "%C3%BC"),
        ] {
            let expected = format!("/v1beta/models/{expected}:streamGenerateContent?alt=sse");
            assert_eq!(path(model), expected);
        }
    }
}
