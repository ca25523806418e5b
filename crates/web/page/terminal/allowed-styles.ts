// xterm.js creates <style> elements and sets `style` attributes, which the page's content security
// policy forbids. Here it reaches the same through interfaces that the policy allows: constructed
// style sheets, and the style object of an element.

let areSpansPrepared = false;

/** Runs `open`, which creates a terminal's elements, so that its styles take effect. */
export function withAllowedStyles(open: () => void): void {
  prepareSpans();
  const create = document.createElement;
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name === "style" ? constructedStyle() : create.call(document, name, options)
  ) as typeof create;
  try {
    open();
  } finally {
    // The method of the prototype is visible again.
    delete (document as Partial<Document>).createElement;
  }
}

// A span of the terminal gets its colours as an attribute. Setting the text of its style object has
// the same effect, and the policy allows it.
function prepareSpans(): void {
  if (areSpansPrepared) return;
  areSpansPrepared = true;
  HTMLSpanElement.prototype.setAttribute = function setAttribute(name: string, value: string) {
    if (name === "style") this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}

/** Returns a hidden element whose text is a style sheet of the page, until it is removed. */
function constructedStyle(): HTMLElement {
  const element = document.createElement("span");
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", {
    get: () => "",
    set: (text: string) => sheet.replaceSync(text),
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((it) => it !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
