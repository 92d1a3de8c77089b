// What someone does of their own accord. Focus that a page moves by itself is none of it.
const EVENTS = ['keydown', 'pointerdown', 'input', 'wheel', 'touchmove'];

let lastMs = performance.now();
const note = () => {
  lastMs = performance.now();
};
for (const type of EVENTS) document.addEventListener(type, note, { capture: true, passive: true });
window.addEventListener('focus', note);

/** When someone last did something in this tab, or came back to it; on the clock of `performance.now()`. */
export const lastActivity = (): number => lastMs;
