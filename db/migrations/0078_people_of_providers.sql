-- People who sign in at an OpenID Connect provider have a key without a text, which is renewed each time that they do.
alter table api_key add column issuer text, add column issuer_subject text,
  add constraint api_key_of_person unique (issuer, issuer_subject);
comment on column api_key.issuer is 'The provider at which this person signs in; null: a key that has a text';
comment on column api_key.issuer_subject is 'The person as the provider knows them, for good (sub)';
