import type { Token, Tokens } from 'marked';
import { createElement } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const TAGS: Record<string, string> = {
  ...{ paragraph: 'p', heading: 'h4', blockquote: 'blockquote', list_item: 'li' },
  ...{ strong: 'strong', em: 'em', del: 'del' },
};

/** A text in Markdown. HTML in it is shown as the text that it is, and images by what they say. */
export function Markdown({ text }: { text: string }) {
  const [tokens, setTokens] = useState<Token[] | null>(null);
  useEffect(() => {
    // only who reads a text loads what reads it
    void import('marked').then(({ lexer }) => setTokens(lexer(text)));
  }, [text]);
  return (
    <div class="markdown" dir="auto">
      {tokens ? <Parts of={tokens} /> : text}
    </div>
  );
}

const Parts = ({ of }: { of: readonly Token[] }) => of.map((token, n) => <Part key={n} token={token} />);

function Part({ token }: { token: Token }) {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return null;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'code':
      return <pre>{token.text}</pre>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'list': {
      const List = token.ordered ? 'ol' : 'ul';
      return (
        <List>
          <Parts of={(token as Tokens.List).items} />
        </List>
      );
    }
    case 'link':
      if (!/^https?:/i.test(token.href)) return <Parts of={token.tokens ?? []} />;
      return (
        <a href={token.href} target="_blank" rel="noreferrer">
          <Parts of={token.tokens ?? []} />
        </a>
      );
  }
  const tag = TAGS[token.type];
  if (!('tokens' in token) || !token.tokens) return 'text' in token ? String(token.text) : token.raw;
  const parts = <Parts of={token.tokens} />;
  return tag ? createElement(tag, null, parts) : parts;
}
