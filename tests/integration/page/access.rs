//! Who gets in, and what no request gets past.

use super::world;

#[test]
fn a_link_becomes_a_cookie_that_scripts_and_other_sites_cannot_use() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let welcome = served.stranger().get(&format!("/in/{secret}"));
    assert_eq!(welcome.status, 200);
    let cookie = welcome.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with(&format!("dualrater_{}={secret};", served.address.port())), "{cookie}");
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    assert_eq!(welcome.header("referrer-policy"), Some("no-referrer"));
    assert!(!welcome.body.contains(&secret), "the page does not repeat the secret");
    let anna = served.client(&secret);
    assert_eq!(anna.get("/cases").status, 200);
    // Neither the database nor anything the server says holds the secret.
    for file in ["audits.db", "audits.db-wal"] {
        let bytes = std::fs::read(world.folder.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{file} holds the secret");
    }
    assert!(!served.kill().contains(&secret));
}

#[test]
fn revoked_renewed_and_wrong_links_open_nothing() {
    let world = world("mechanism-v3");
    let (first, ben) = (world.link(&["anna"]), world.link(&["ben"]));
    let served = world.serve();
    assert_eq!(served.client(&first).get("/cases").status, 200);
    let printed = world.run(&["raters", "token", "--batch", "page", "anna"]);
    let second = printed.trim().rsplit('/').next().expect("a link");
    assert_eq!(served.client(&first).get("/cases").status, 401, "the old link stops to work at once");
    assert_eq!(served.stranger().get(&format!("/in/{first}")).status, 401);
    assert_eq!(served.client(second).get("/cases").status, 200);
    world.run(&["raters", "revoke", "--batch", "page", "anna"]);
    assert_eq!(served.client(second).get("/cases").status, 401);
    assert_eq!(served.client(&ben).get("/cases").status, 200, "others keep theirs");
    for wrong in [&"0".repeat(64), "", "x", &first.to_uppercase(), &first[..63]] {
        assert_eq!(served.client(wrong).get("/cases").status, 401, "{wrong}");
    }
    assert_eq!(served.stranger().get("/cases").status, 401);
    let statuses: Vec<u16> = (0..40).map(|number| served.stranger().get(&format!("/in/{number:064}")).status).collect();
    assert!(statuses.contains(&429), "guessing is slowed down: {statuses:?}");
    assert_eq!(served.stranger().get(&format!("/in/{ben}")).status, 200, "a right link works meanwhile");
    assert_eq!(world.try_run(&["raters", "token", "--batch", "page", "nobody"]).status.code(), Some(3));
}

#[test]
fn requests_of_other_sites_are_refused() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    let origin = format!("http://{}", served.address);
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let post = |headers: &[(&str, &str)]| {
        anna.raw("POST", "/case/1/marks", &[headers, &[form]].concat(), b"known=1").expect("an answer").status
    };
    assert_eq!(post(&[("Origin", &origin)]), 303);
    assert_eq!(post(&[("Origin", &origin), ("Sec-Fetch-Site", "same-origin")]), 303);
    assert_eq!(post(&[("Sec-Fetch-Site", "same-origin")]), 303);
    assert_eq!(post(&[]), 403, "neither header");
    assert_eq!(post(&[("Origin", "http://evil.example")]), 403);
    assert_eq!(post(&[("Origin", "null")]), 403);
    assert_eq!(post(&[("Origin", "http://127.0.0.1:1")]), 403, "another port is another site");
    assert_eq!(post(&[("Origin", &origin), ("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(post(&[("Origin", &origin), ("Sec-Fetch-Site", "same-site")]), 403);
    let get = |headers: &[(&str, &str)]| anna.raw("GET", "/case/1", headers, b"").expect("an answer").status;
    assert_eq!(get(&[("Host", "evil.example")]), 421, "DNS rebinding");
    assert_eq!(get(&[("Host", &format!("evil.example:{}", served.address.port()))]), 421);
    assert_eq!(get(&[("Host", &format!("localhost:{}", served.address.port()))]), 200);
    assert_eq!(get(&[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")]), 403);
    assert_eq!(get(&[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]), 200);
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        assert_eq!(
            anna.raw(method, "/case/1", &[("Origin", &origin)], b"").expect("an answer").status,
            405,
            "{method}"
        );
    }
    assert_eq!(anna.raw("POST", "/case/1", &[("Origin", &origin)], b"").expect("an answer").status, 405);
}

#[test]
fn paths_and_bodies_have_limits() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    for path in [
        "/case/0",
        "/case/99999999999999999999999",
        "/case/-1",
        "/case/1/../2",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/page.css/../../audits.db",
        "/audits.db",
        "/case/%00",
        "/ruling/../owner",
        "/case/32",
    ] {
        assert_eq!(anna.get(path).status, 404, "{path}");
    }
    assert_eq!(anna.get(&format!("/{}", "a".repeat(600))).status, 414);
    assert!([400, 404].contains(&anna.get("/case/1?only=everything").status));
    let long = "x".repeat(140 * 1024);
    let refused = anna.try_post("/case/1/answer", &[("label", "B4"), ("rationale", &long)]);
    assert!(refused.is_none_or(|answer| answer.status == 413), "a body has a limit");
    let long = "x".repeat(30_000);
    let refused = anna.answer(1, "B4", "1", &long);
    assert_eq!(refused.status, 400, "a rationale has a limit");
    assert_eq!(anna.post("/case/1/answer", &[("label", "B99"), ("value", "1")]).status, 400);
    assert_eq!(anna.post("/case/1/answer", &[]).status, 400);
    assert_eq!(world.events("anna"), 0);
}

#[test]
fn every_answer_carries_the_policy() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    for path in ["/", "/cases", "/case/1", "/rubric", "/page.css", "/page.js", "/nowhere", "/owner"] {
        let answer = anna.get(path);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        // Nothing inline that the policy would have to allow, nothing from elsewhere.
        if answer.header("content-type").is_some_and(|kind| kind.contains("html")) {
            for inline in
                ["<style", " style=\"", " onclick", " onload", " onerror", "javascript:", "http://", "https://"]
            {
                assert!(!answer.body.contains(inline), "{path} holds {inline}");
            }
            assert_eq!(answer.body.matches("<script").count(), 1);
        }
    }
}

#[test]
fn only_a_wish_opens_the_page_to_the_network_and_a_warning_says_what_that_means() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let help = world.run(&["serve", "--help"]);
    assert!(help.contains("[default: 127.0.0.1:8347]"), "{help}");
    let local = world.serve();
    assert!(local.address.ip().is_loopback());
    assert!(!local.kill().contains("warning"));
    let open = world.serve_at("0.0.0.0:0");
    let mut anna = open.client(&secret);
    anna.address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    assert_eq!(anna.get("/cases").status, 200);
    let said = open.kill();
    assert!(said.contains("warning") && said.contains("nothing on the way is encrypted"), "{said}");
}

/// How long a comparison takes says nothing: the store is never asked for a digest, and digests are compared in constant time.
#[test]
fn secrets_are_compared_in_constant_time() {
    let source = |file: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        std::fs::read_to_string(path).expect("source")
    };
    let access = source("serve/access.rs");
    assert!(access.contains(".ct_eq(digest.as_bytes())") && !access.contains("digest =="));
    assert!(!source("store/access.rs").contains("digest = ?"));
}
