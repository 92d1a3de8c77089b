import { run } from './call.ts';

// Disputed reviews, as a marketplace has them: a guest wrote one, the shop wants it gone, and other guests decide.

/** The review, what the shop says, and what the guest answers. */
const DISPUTES = [
  [
    'Waited 70 minutes for cold noodles. The waiter laughed when we asked for the manager.',
    'This guest never had a table with us that evening; we keep a list of all reservations.',
    'We had no reservation, we queued. The receipt in the photo says 20:41.',
  ],
  [
    'Hair in the soup, twice. Avoid.',
    'A competitor around the corner pays for reviews like this one; the account is two days old.',
    'I opened the account to write this. I have the message in which the cook says sorry.',
  ],
  [
    'Charged us 18 % service although the menu says that it is included.',
    'Groups of more than eight pay service; it is printed on the last page of the menu.',
    'We were six, and two children.',
  ],
  [
    '点了两份招牌菜，一份是凉的，一份是昨天的。店员说“爱吃不吃”。',
    '该用户当天没有消费记录，照片是从别家店的评论里拿来的。',
    '是我朋友付的款，照片是我自己拍的，可以提供原图。',
  ],
  [
    'Five stars for the massage, one star for the price that doubled at the till.',
    'The price list hangs in each room. The guest chose two treatments.',
    'I chose one. The second was "a gift of the house", until I had to pay for it.',
  ],
] as const;

/** The sides of such a case, between which jurors choose. */
export const SIDES = ['guest', 'shop'];

export function dispute(n: number) {
  const [review, shop, guest] = DISPUTES[n % DISPUTES.length] ?? DISPUTES[0];
  return {
    id: `${run}-dispute-${n}`,
    parties: [{ id: 'guest' }, { id: 'shop' }],
    body: {
      review,
      stars: n % 2 === 0 ? 1 : 2,
      statements: [
        { party: 'shop', says: shop },
        { party: 'guest', says: guest },
      ],
    },
  };
}
