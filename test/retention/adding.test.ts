import { expect, test } from 'vitest';
import { addOnce } from '../../services/shared/service.ts';

const what = { what: 'ticket', id: 't', hash: '00' };
const made = { content_hash: Buffer.from([0]) };

test('S0.9 S4.10 an add whose id is being cleared: what it met has gone, and it is made anew', async () => {
  let there = true;
  const insert = async () => (there ? undefined : made);
  const find = async () => {
    there = false;
    return undefined;
  };
  expect(await addOnce(what, insert, find)).toEqual({ item: made, created: true });
});

test('S0.9 one that is there is the same for the same content only; one that comes and goes is unavailable', async () => {
  const insert = async () => undefined;
  expect(await addOnce(what, insert, async () => made)).toEqual({ item: made, created: false });
  await expect(addOnce({ ...what, hash: '01' }, insert, async () => made)).rejects.toMatchObject({
    code: 'id_conflict',
  });
  await expect(addOnce(what, insert, async () => undefined)).rejects.toMatchObject({ code: 'unavailable' });
});
