// Search on a page that was opened from a folder: browsers start no workers there. A frame that nobody sees does the
// same work; messages go to and fro as with a worker. On a server nothing of this is used.
if (location.protocol === "file:") {
  const inside = `
    self.postMessage = (data) => parent.postMessage(data, "*");
    self.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      document.head.appendChild(script);
    })), Promise.resolve());`;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.appendChild(this.frame);
      const within = this.frame.contentWindow.document;
      within.open();
      within.write(`<script>${inside}</scr` + `ipt><script src="${encodeURI(decodeURI(url))}"></scr` + `ipt>`);
      within.close();
      this.hear = (event) => {
        if (event.source !== this.frame.contentWindow) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      addEventListener("message", this.hear);
      this.isReady = new Promise((resolve) => { this.frame.contentWindow.addEventListener("load", resolve); });
    }

    postMessage(data) {
      this.isReady.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      removeEventListener("message", this.hear);
      this.frame.remove();
    }
  };
}
