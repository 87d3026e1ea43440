"""The recorder that travels as one file: `reading` is what it reads, `recorder` how, `generate` puts it together with the redaction."""
