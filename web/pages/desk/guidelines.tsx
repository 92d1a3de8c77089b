import { useMemo } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { Fold } from '../../components/fold.tsx';
import { Markdown } from '../../components/markdown.tsx';
import { texts } from '../../texts/texts.ts';

/** What the queue's form says of its fields and options at length, each text once. */
export function Guidelines({ form, guidelines = {} }: Pick<Schemas['Queue'], 'form' | 'guidelines'>) {
  const named = useMemo(() => Map.groupBy(guidelinesIn(form), ({ name }) => name), [form]);
  const shown = [...named].flatMap(([name, uses]) => {
    const labels = new Set(uses.map(({ label }) => label || name));
    return guidelines[name] === undefined ? [] : [{ name, title: [...labels].join(', '), text: guidelines[name] }];
  });
  if (shown.length === 0) return null;
  return (
    <section class="desk-guidelines" aria-label={texts.value.queueSettings.guidelines[0]}>
      {shown.map(({ name, title, text }) => (
        <Fold key={name} summary={texts.value.desk.guideline(title)}>
          {() => <Markdown text={text} />}
        </Fold>
      ))}
    </section>
  );
}

interface Named {
  name: string;
  /** Of the option or field. */
  label: string;
}

function guidelinesIn(schema: unknown, field = ''): Named[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((one) => guidelinesIn(one, field));
  const { 'x-guideline': name, title, const: value, properties, ...rest } = schema as Record<string, unknown>;
  const label = [title, value, field].find((text) => typeof text === 'string') as string;
  return [
    ...(typeof name === 'string' ? [{ name, label }] : []),
    ...Object.entries(properties ?? {}).flatMap(([of, one]) => guidelinesIn(one, of)),
    ...Object.values(rest).flatMap((one) => guidelinesIn(one, field)),
  ];
}
