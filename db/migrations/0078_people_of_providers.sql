-- People who sign in at an OpenID Connect provider have a key without a text, which is renewed each time that they do.
alter table api_key add column issuer text;
comment on column api_key.issuer is 'The provider at which this person signs in; null: a key that has a text';
