import { plural } from './plural.ts';

/** The body of an item, as its reader sees it. */
export const body = {
  empty: 'empty',
  more: (n: string) => `Show more (${n} characters left)`,
  moreEntries: (n: string) => `Show more (${n} left)`,
  list: (n: string) => `List of ${n}`,
  fields: (n: string) => plural(n, 'field', 'fields'),
  mark: 'An invisible character that could change how the text reads',
  hidden: { image: 'Image, not shown yet', video: 'Video, not shown yet', audio: 'Sound, not loaded yet' },
  failed: 'It could not be loaded.',
  notAllowed: 'Not loaded: its host is not in DOCKET_IMAGE_HOSTS.',
  of: {
    image: (host: string) => `Image from ${host}`,
    video: (host: string) => `Video from ${host}`,
    audio: (host: string) => `Sound from ${host}`,
  },
  reveal: { image: 'Show image', video: 'Show video', audio: 'Load sound' },
  hide: { image: 'Hide image', video: 'Hide video', audio: 'Hide sound' },
  playerKeys: 'Keys: p plays and pauses, j and l seek, comma and point go by frames, < and > change the speed',
  enlarge: 'Enlarge',
  viewer: 'Images',
  previous: 'Previous',
  next: 'Next',
  zoomIn: 'Larger',
  zoomOut: 'Smaller',
  turn: 'Rotate',
  reset: 'Fit',
  fullScreen: 'Full screen',
  position: (read: string) => `${read} read`,
  leaving: 'This leads out of Docket',
  leavingHint:
    'The address comes from whoever sent the item. It is opened in a new tab and does not learn where you came from.',
  address: 'Address',
  open: 'Open in a new tab',
};
