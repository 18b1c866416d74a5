
// A welcome page goes on by itself; every other page gets its desk.
if (data.go) {
  location.replace("/");
} else {
  desk = data.mode === "packet" ? packetDesk() : serverDesk();
  document.addEventListener("keydown", typed);
  desk.start();
}
