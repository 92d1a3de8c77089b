import { plural } from './plural.ts';

/** The body of an item, as its reader sees it. */
export const body = {
  empty: 'empty',
  more: (n: string) => `Show more (${n} characters left)`,
  moreEntries: (n: string) => `Show more (${n} left)`,
  list: (n: string) => `List of ${n}`,
  fields: (n: string) => plural(n, 'field', 'fields'),
  mark: 'An invisible character that could change how the text reads',
  hidden: 'Image, not shown yet',
  failed: 'The image could not be loaded.',
  notAllowed: 'Image, not loaded: its host is not in DOCKET_IMAGE_HOSTS.',
  imageOf: (host: string) => `Image from ${host}`,
  reveal: 'Show image',
  hide: 'Hide image',
  leaving: 'This leads out of Docket',
  leavingHint:
    'The address comes from whoever sent the item. It is opened in a new tab and does not learn where you came from.',
  address: 'Address',
  open: 'Open in a new tab',
};
