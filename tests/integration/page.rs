//! The raters' page as a client meets it: the real program on a free port, plain HTTP over a socket.

mod access;
mod blind;
mod heavy;
mod hostile;
mod packet;
mod reading;
mod saving;
mod tau2;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// The program: this build's, or another that `scripts/prove` measures.
fn binary() -> std::ffi::OsString {
    std::env::var_os("DUALRATER_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_dualrater").into())
}

pub struct World {
    pub folder: tempfile::TempDir,
}

/// A demo whose cases wait to be rated again by people, in batch `page` under a rubric of one's choice.
#[must_use]
pub fn world(rubric: &str) -> World {
    let world = World { folder: tempfile::tempdir().expect("temp dir") };
    world.run(&["demo"]);
    world.run(&["batch", "rerate", "--batch", "demo", "--rubric", rubric, "--as", "page"]);
    world
}

impl World {
    pub fn try_run(&self, arguments: &[&str]) -> Output {
        Command::new(binary())
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .output()
            .expect("the program starts")
    }

    /// Runs the program; gives what it prints.
    pub fn run(&self, arguments: &[&str]) -> String {
        let done = self.try_run(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("UTF-8")
    }

    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.run(arguments)).expect("JSON")
    }

    /// The secret of a new link.
    pub fn link(&self, arguments: &[&str]) -> String {
        let mut all = vec!["raters", "add", "--batch", "page"];
        all.extend(arguments);
        let printed = self.run(&all);
        printed.trim().rsplit('/').next().expect("a link").to_owned()
    }

    pub fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join("audits.db")).expect("open")
    }

    /// Rating events of a rater in batch `page`.
    pub fn events(&self, rater: &str) -> i64 {
        self.sql().query_row("SELECT count(*) FROM ratings WHERE rater = ?", [rater], |row| row.get(0)).expect("count")
    }

    #[must_use]
    pub fn serve(&self) -> Served {
        self.serve_at("127.0.0.1:0")
    }

    #[must_use]
    pub fn serve_at(&self, listen: &str) -> Served {
        Served::start(self.folder.path(), listen)
    }
}

pub struct Served {
    child: Child,
    pub address: SocketAddr,
}

impl Served {
    fn start(folder: &Path, listen: &str) -> Self {
        let mut child = Command::new(binary())
            .args(["serve", "--listen", listen])
            .current_dir(folder)
            .env_clear()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://").expect("an address").parse().expect("an address");
        Self { child, address }
    }

    /// Kills it as `kill -9` does; gives what it said on stderr.
    pub fn kill(mut self) -> String {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut said).expect("UTF-8");
        }
        said
    }

    pub fn client(&self, secret: &str) -> Client {
        let cookie = format!("dualrater_{}={secret}", self.address.port());
        Client { address: self.address, cookie: Some(cookie) }
    }

    pub fn stranger(&self) -> Client {
        Client { address: self.address, cookie: None }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Ours, and gone already where it was killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Clone)]
pub struct Client {
    pub address: SocketAddr,
    cookie: Option<String>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).expect("JSON")
    }
}

impl Client {
    /// Sends a request as it is written here, and reads the answer; `None` where the connection breaks.
    pub fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if let Some(cookie) = &self.cookie {
            head.push_str(&format!("Cookie: {cookie}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
        // A server that refuses a large body may close before all of it is sent.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let status = lines.next()?.split_whitespace().nth(1)?.parse().ok()?;
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Some(Answer { status, headers: lines.filter_map(header).collect(), body: body.to_owned() })
    }

    pub fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, &[], b"").expect("an answer")
    }

    /// Posts a form as the page's own script does.
    pub fn try_post(&self, path: &str, fields: &[(&str, &str)]) -> Option<Answer> {
        let encode = |text: &str| -> String {
            text.bytes()
                .map(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
                    _ => format!("%{byte:02X}"),
                })
                .collect()
        };
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        let origin = format!("http://{}", self.address);
        let headers = [
            ("Origin", origin.as_str()),
            ("Accept", "application/json"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        self.raw("POST", path, &headers, body.join("&").as_bytes())
    }

    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.try_post(path, fields).expect("an answer")
    }

    /// The forms of a case's questions: label and digest of what is shown.
    pub fn questions(&self, path: &str) -> BTreeMap<String, String> {
        let page = self.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        let forms = page.body.split("<form class=\"question").skip(1);
        forms.map(|form| (value_of(form, "label"), value_of(form, "digest"))).collect()
    }

    /// Answers a question of a case.
    pub fn answer(&self, number: usize, label: &str, value: &str, rationale: &str) -> Answer {
        let digest = self.questions(&format!("/case/{number}")).remove(label).expect("the question");
        self.post(
            &format!("/case/{number}/answer"),
            &[("label", label), ("digest", &digest), ("value", value), ("rationale", rationale)],
        )
    }

    /// Answers every question of every case; `said` is every rationale.
    pub fn finish(&self, cases: usize, value: &str, said: &str) {
        for number in 1..=cases {
            for (label, digest) in self.questions(&format!("/case/{number}")) {
                let value = match label.as_str() {
                    "B6" => "n.a.",
                    "B7" => "unclassified",
                    _ => value,
                };
                let fields = [("label", label.as_str()), ("digest", &digest), ("value", value), ("rationale", said)];
                let mut answer = self.post(&format!("/case/{number}/answer"), &fields);
                while answer.status == 429 {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    answer = self.post(&format!("/case/{number}/answer"), &fields);
                }
                assert_eq!(answer.status, 200, "{}", answer.body);
            }
        }
    }
}

/// The value of a hidden field.
pub fn value_of(form: &str, name: &str) -> String {
    let rest = form.split(&format!("name=\"{name}\" value=\"")).nth(1).expect("the field");
    rest.split('"').next().expect("a value").to_owned()
}

/// The state of a question in an answer to the script.
pub fn question<'j>(state: &'j serde_json::Value, label: &str) -> &'j serde_json::Value {
    let questions = state["questions"].as_array().expect("questions");
    questions.iter().find(|question| question["label"] == label).expect("the question")
}
