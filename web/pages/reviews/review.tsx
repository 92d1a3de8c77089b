import { useRoute } from 'preact-iso';
import { useGet } from '../../api/resource.ts';
import { Body } from '../../components/body/body.tsx';
import { number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { Facts, Loaded, Page, Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { texts } from '../../texts/texts.ts';
import { Deliveries } from '../item/deliveries.tsx';
import '../item/item.css';
import { isAbout } from '../item/sources.ts';
import { Workflow } from '../item/workflow.tsx';
import { Log } from './log.tsx';
import './reviews.css';
import { Stores } from './stores.tsx';

/** One review: its targets as each store has them, and what became of every callback. */
export function Review() {
  const { id = '' } = useRoute().params;
  return <OneReview key={id} id={id} />;
}

function OneReview({ id }: { id: string }) {
  const t = texts.value.reviews;
  const on = isAbout('review', id);
  const review = useGet('/v1/reviews/{id}', { path: { id } }, { on });
  useShortcuts([{ key: 'r', does: texts.value.common.refresh, run: review.refresh }]);
  return (
    <Page title={t.title(id)}>
      <Loaded of={review}>
        {({ status, version, createdAt, updatedAt, body }) => (
          <>
            <Section title={texts.value.items.fields.state}>
              <Facts
                facts={[
                  [t.status, number(status)],
                  [texts.value.items.version, version],
                  [t.columns.updated, <When key="updated" at={updatedAt} />],
                  [texts.value.items.fields.createdAt, <When key="created" at={createdAt} />],
                ]}
              />
              {body !== null && (
                <div class="panel-body">
                  <Body value={body} />
                </div>
              )}
            </Section>
            <Stores id={id} on={on} />
            <Log id={id} on={on} />
            <Deliveries kind="review" id={id} />
            <Workflow kind="review" id={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
