import { sleep } from '@temporalio/workflow';
import type { ItemInput, ReviewInput } from '../../contract/snapshot.ts';
import unalteredItem from '../../workflows/kinds.ts';
import { review as unalteredReview } from '../../workflows/reviews.ts';

// The control: workflows with one timer too many. Their replay must be rejected.

export default async function item(input: ItemInput): Promise<void> {
  await sleep(1);
  await unalteredItem(input);
}

export async function review(input: ReviewInput): Promise<void> {
  await sleep(1);
  await unalteredReview(input);
}
