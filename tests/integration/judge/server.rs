//! A scripted OpenAI-compatible server: what it answers, when, and how badly is up to the test.
#![expect(clippy::disallowed_methods, reason = "the server notes when it was asked")]

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Asked {
    /// How manyeth, from 0.
    pub number: usize,
    /// How often this very conversation was sent before.
    pub earlier: usize,
    /// The body.
    pub body: Value,
    /// The line and headers, in lower case.
    pub head: String,
    /// When.
    pub at: Instant,
}

impl Asked {
    /// The content of a message.
    pub fn message(&self, index: usize) -> &str {
        self.body.pointer(&format!("/messages/{index}/content")).and_then(Value::as_str).unwrap_or_default()
    }

    /// Messages in the conversation.
    pub fn messages(&self) -> usize {
        self.body.get("messages").and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// The schema that was sent.
    pub fn schema(&self) -> Option<&Value> {
        ["/response_format/json_schema/schema", "/response_format/schema"].iter().find_map(|at| self.body.pointer(at))
    }

    /// The type of the response format that was asked for.
    pub fn format(&self) -> Option<&str> {
        self.body.pointer("/response_format/type").and_then(Value::as_str)
    }

    /// A valid answer: the gold action everywhere, nothing else (so that the rules between labels hold).
    pub fn valid(&self) -> Value {
        answer_to(self.schema().expect("a schema"))
    }
}

/// A valid answer to a schema.
pub fn answer_to(schema: &Value) -> Value {
    let labels = schema.pointer("/properties/labels/properties").and_then(Value::as_object).expect("labels");
    let labels: BTreeMap<&str, Value> = labels
        .iter()
        .map(|(label, form)| {
            let allowed = form.pointer("/properties/value/enum").and_then(Value::as_array);
            let has = |value: &str| allowed.is_some_and(|allowed| allowed.iter().any(|one| one == value));
            let gold = label == "B1a" || label == "B1b";
            let value = match allowed {
                Some(_) if gold && has("1") => "1".to_owned(),
                Some(_) if has("0") => "0".to_owned(),
                Some(allowed) => allowed[0].as_str().expect("a text").to_owned(),
                None => "n.a.".to_owned(),
            };
            (label.as_str(), json!({ "value": value, "rationale": format!("Read for {label}.") }))
        })
        .collect();
    json!({ "labels": labels })
}

/// What the server does with a request.
pub enum Answer {
    /// A chat completion with this content.
    Say(String),
    /// The same after a wait.
    SayAfter(Duration, String),
    /// The same, chunked, in small pieces with pauses.
    Trickle(String),
    /// The bytes of a chat completion under another content type.
    SayAs(&'static str, String),
    /// A status, headers, a body.
    Raw(u16, Vec<(&'static str, String)>, String),
    /// The connection ends before an answer.
    Cut,
    /// The connection ends within the body.
    CutWithin,
    /// Nothing comes for this long, then the connection ends.
    Silence(Duration),
}

impl Answer {
    /// A chat completion that holds this value as JSON.
    pub fn json(value: &Value) -> Self {
        Self::Say(value.to_string())
    }
}

type Script = dyn Fn(&Asked) -> Answer + Send + Sync;

#[derive(Default)]
struct State {
    asked: Mutex<Vec<Asked>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A running server; its threads end with the test process.
pub struct Server {
    port: u16,
    state: Arc<State>,
}

/// Turns an accepted connection into a stream: plain, or TLS.
pub type Wrap = dyn Fn(TcpStream) -> Box<dyn Stream> + Send + Sync;

/// What a connection can do.
pub trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

impl Server {
    pub fn start(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_wrapped(script, Arc::new(|stream: TcpStream| Box::new(stream) as Box<dyn Stream>))
    }

    pub fn start_wrapped(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static, wrap: Arc<Wrap>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State::default());
        let (shared, script): (_, Arc<Script>) = (Arc::clone(&state), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, script, wrap) = (Arc::clone(&shared), Arc::clone(&script), Arc::clone(&wrap));
                std::thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    serve(wrap(stream), &state, &*script);
                });
            }
        });
        Self { port, state }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Everything asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().expect("not poisoned").clone()
    }

    /// The most requests that were open at one time.
    pub fn most_at_once(&self) -> usize {
        self.state.most.load(Ordering::SeqCst)
    }
}

/// Serves a connection until one side ends it.
fn serve(stream: Box<dyn Stream>, state: &State, script: &Script) {
    let mut stream = BufReader::new(stream);
    while let Some((head, body)) = read(&mut stream) {
        let asked = {
            let mut all = state.asked.lock().expect("not poisoned");
            let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
            let earlier = all.iter().filter(|one| one.body.get("messages") == body.get("messages")).count();
            let asked = Asked { number: all.len(), earlier, body, head, at: Instant::now() };
            all.push(asked.clone());
            asked
        };
        let now = state.now.fetch_add(1, Ordering::SeqCst) + 1;
        state.most.fetch_max(now, Ordering::SeqCst);
        let answer = script(&asked);
        let done = act(stream.get_mut(), answer, &asked);
        state.now.fetch_sub(1, Ordering::SeqCst);
        if done.is_none() {
            return;
        }
    }
}

fn read(stream: &mut impl std::io::BufRead) -> Option<(String, String)> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8_lossy(&body).into_owned()))
}

fn completion(asked: &Asked, content: &str) -> String {
    let body = json!({
        "id": format!("chatcmpl-{}", asked.number),
        "object": "chat.completion",
        "model": "scripted-1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    });
    body.to_string()
}

/// `None`: the connection is done.
fn act(stream: &mut Box<dyn Stream>, answer: Answer, asked: &Asked) -> Option<()> {
    let json = |content: &str| (200, vec![("content-type", "application/json".to_owned())], completion(asked, content));
    let (status, headers, body) = match answer {
        Answer::Say(content) => json(&content),
        Answer::SayAfter(wait, content) => {
            std::thread::sleep(wait);
            json(&content)
        }
        Answer::SayAs(kind, content) => (200, vec![("content-type", kind.to_owned())], completion(asked, &content)),
        Answer::Raw(status, headers, body) => (status, headers, body),
        Answer::Trickle(content) => return trickle(stream, completion(asked, &content).as_bytes()),
        Answer::Cut => return None,
        Answer::CutWithin => {
            let body = completion(asked, "{}");
            let half = &body[..body.len() / 2];
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{half}", body.len());
            let _ = stream.write_all(head.as_bytes());
            return None;
        }
        Answer::Silence(wait) => {
            std::thread::sleep(wait);
            return None;
        }
    };
    let mut text = format!("HTTP/1.1 {status} Scripted\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(&body);
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).ok()
}

fn trickle(stream: &mut Box<dyn Stream>, body: &[u8]) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()?;
    for piece in body.chunks(body.len().div_ceil(8).max(1)) {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).ok()?;
        stream.write_all(piece).ok()?;
        stream.write_all(b"\r\n").ok()?;
        stream.flush().ok()?;
        std::thread::sleep(Duration::from_millis(10));
    }
    stream.write_all(b"0\r\n\r\n").and_then(|()| stream.flush()).ok()
}
