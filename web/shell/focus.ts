let first = true;

/** After a change of pages: to the heading, so that screen readers and the Tab key go on from there, and to the top. */
export function focusPage(): void {
  // the page that is loaded first has its focus where the browser puts it
  if (first) {
    first = false;
    return;
  }
  requestAnimationFrame(() => {
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  });
}
