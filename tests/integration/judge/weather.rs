//! Servers that delay, refuse, break off, and answer with something else: every case gets its answer in the end.

use std::time::Duration;

use super::*;

/// Each case meets one or two kinds of trouble before it is answered.
#[test]
fn every_trouble_is_waited_out_and_nothing_is_lost_or_doubled() {
    let folder = project();
    let at = folder.path();
    let cases = cases(at);
    let server = Server::start(|asked| {
        let plain =
            |status, text: &str| Answer::Raw(status, vec![("content-type", "text/plain".to_owned())], text.to_owned());
        if asked.earlier > 1 {
            return Answer::json(&asked.valid());
        }
        match (asked.message(1).len() + 5 * asked.earlier) % 10 {
            0 => Answer::Raw(
                429,
                vec![("retry-after", "0.05".to_owned())],
                "{\"error\":{\"message\":\"slow down\"}}".to_owned(),
            ),
            1 => plain(500, "Internal Server Error"),
            2 => Answer::Cut,
            3 => Answer::CutWithin,
            4 => plain(200, "<html>not a chat completion</html>"),
            5 => Answer::Raw(200, Vec::new(), "{\"choices\": [".to_owned()),
            6 => plain(503, "overloaded"),
            7 => Answer::Trickle(asked.valid().to_string()),
            8 => Answer::SayAs("text/html; charset=utf-8", asked.valid().to_string()),
            _ => Answer::SayAfter(Duration::from_millis(100), asked.valid().to_string()),
        }
    });
    let url = server.url();
    let found = json(at, &judge(&url, &["--concurrency", "8"]));
    assert_eq!((count(&found, "/totals/verdicts"), count(&found, "/open")), (cases, 0));
    assert_eq!(query(at, "SELECT count(*) FROM judge_replies") as u64, cases);
    let requests = query(at, "SELECT sum(requests) FROM judge_replies") as u64;
    assert_eq!(requests, server.asked().len() as u64, "every request is accounted for");
    assert!(requests > cases, "there was trouble");
    done(at, &["verify"]);
}

/// No request of any thread is sent before the server said. A lower limit only, so no test of speed.
#[test]
fn retry_after_holds_for_everybody() {
    let folder = project();
    let at = folder.path();
    let wait = Duration::from_millis(1500);
    let server = Server::start(|asked| match asked.number {
        0..4 => Answer::Raw(
            429,
            vec![("retry-after", "1.5".to_owned())],
            "{\"error\":{\"message\":\"slow down\"}}".to_owned(),
        ),
        _ => Answer::json(&asked.valid()),
    });
    let url = server.url();
    done(at, &judge(&url, &["--limit", "12", "--concurrency", "4"]));
    let asked = server.asked();
    assert_eq!(asked.len(), 16);
    // Those in flight together are refused together; whoever comes after waits.
    let first = asked[0].at;
    for later in &asked[4..] {
        let after = later.at.duration_since(first);
        assert!(after + Duration::from_millis(20) >= wait, "asked again after {after:?}");
    }
}

#[test]
fn a_server_that_never_recovers_leaves_cases_open_and_stored_ones_alone() {
    let folder = project();
    let at = folder.path();
    let cases = cases(at);
    let server = Server::start(|asked| {
        if asked.number < 5 {
            Answer::json(&asked.valid())
        } else {
            Answer::Raw(502, Vec::new(), "bad gateway".to_owned())
        }
    });
    let url = server.url();
    let output = run(at, &judge(&url, &["--concurrency", "1", "--attempts", "2"]));
    assert_eq!(output.status.code(), Some(74));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("HTTP 502") && said.contains("the same command again asks for what is open"), "{said}");
    assert!((server.asked().len() as u64) < 5 + 2 * cases, "it gives up before the end of the batch");
    assert_eq!(query(at, "SELECT count(*) FROM judge_replies"), 5);
    // A later run, at another server under the same name, does the rest and no more.
    let better = sound();
    let url = better.url();
    done(at, &judge(&url, &[]));
    assert_eq!(better.asked().len() as u64, cases - 5);
    assert_eq!(query(at, "SELECT count(*) FROM judge_replies WHERE outcome = 'verdict'") as u64, cases);
}

#[test]
fn silence_ends_at_the_timeout_and_is_tried_again() {
    let folder = project();
    let server = Server::start(|asked| {
        if asked.earlier == 0 { Answer::Silence(Duration::from_secs(3)) } else { Answer::json(&asked.valid()) }
    });
    let url = server.url();
    let mut arguments = judge(&url, &["--limit", "2"]);
    let timeout = arguments.iter().position(|one| *one == "--timeout").expect("there") + 1;
    arguments[timeout] = "0.5";
    let found = json(folder.path(), &arguments);
    assert_eq!(count(&found, "/totals/verdicts"), 2);
    assert_eq!(query(folder.path(), "SELECT min(requests) FROM judge_replies"), 2);
}

#[test]
fn a_case_too_long_for_the_model_and_one_that_a_filter_refuses_have_no_verdict_with_that_reason() {
    let folder = project();
    let at = folder.path();
    let server = Server::start(|asked| {
        let body = match asked.number {
            0 => r#"{"error":{"code":"context_length_exceeded","message":"maximum context length is 8192 tokens"}}"#,
            1 => r#"{"error":{"code":"content_filter","message":"filtered"}}"#,
            _ => return Answer::json(&asked.valid()),
        };
        Answer::Raw(400, Vec::new(), body.to_owned())
    });
    let url = server.url();
    let found = json(at, &judge(&url, &["--limit", "3", "--concurrency", "1"]));
    assert_eq!((count(&found, "/totals/verdicts"), count(&found, "/totals/no_verdicts")), (1, 2));
    for reason in ["too_long", "refused"] {
        assert!(count(&found, &format!("/totals/reasons/{reason}")) > 0);
    }
}

/// https with a certificate of our own: taken with --ca-file, refused without, and never tried over and over.
#[test]
fn https_is_spoken_and_certificates_are_checked() {
    use rustls::pki_types::pem::PemObject as _;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    let certificate = rustls::pki_types::CertificateDer::from_pem_file(data.join("server.pem")).expect("a certificate");
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(data.join("server-key.pem")).expect("a key");
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocols")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a usable certificate");
    let config = std::sync::Arc::new(config);
    let wrap = move |stream: std::net::TcpStream| -> Box<dyn server::Stream> {
        let connection = rustls::ServerConnection::new(std::sync::Arc::clone(&config)).expect("a connection");
        Box::new(rustls::StreamOwned::new(connection, stream))
    };
    let server = Server::start_wrapped(|asked| Answer::json(&asked.valid()), std::sync::Arc::new(wrap));
    let folder = project();
    let url = format!("https://localhost:{}/v1", server.port());
    let ca = data.join("ca.pem");
    let ca = ca.to_str().expect("UTF-8");
    let found = json(folder.path(), &judge(&url, &["--limit", "3", "--ca-file", ca]));
    assert_eq!(count(&found, "/totals/verdicts"), 3);
    let refused = run(folder.path(), &judge(&url, &["--limit", "3", "--concurrency", "1"]));
    assert_eq!(refused.status.code(), Some(74));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("--ca-file"), "{said}");
    assert_eq!(server.asked().len(), 3, "nothing is sent before the certificate is checked");
}
