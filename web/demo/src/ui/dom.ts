/** The element of the page with that id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element as T;
}

/** An element with text, never markup: names come from other players. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, text = '', className = ''): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className !== '') element.className = className;
  return element;
}

/** Sets the text if it is another, so that the page is laid out only when something changed. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows a message for a few seconds. */
export function toast(text: string, kind: 'info' | 'warn' = 'info', ms = 6000): void {
  const list = byId('toasts');
  if (list.childElementCount > 3) list.firstElementChild?.remove();
  const item = make('li', text, kind);
  list.append(item);
  setTimeout(() => item.remove(), ms);
}
