import { texts } from '../texts/texts.ts';

/** Below a list: shows one page more. `of` is what the list is called, for screen readers. */
export function More({ more, of }: { more: (() => void) | undefined; of: string }) {
  const { showMore } = texts.value.common;
  if (!more) return null;
  return (
    <div class="table-more">
      <button type="button" onClick={more} aria-label={`${showMore}: ${of}`}>
        {showMore}
      </button>
    </div>
  );
}
