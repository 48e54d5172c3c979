"""The people of the needle registers: plausible full names from many places, no part of a name used twice.

Each name is three or four tokens long after a space, in the tokenizer of the course's models, so that the
size of a register depends on how many records it has and hardly on who is in it. A test holds the list to
that.
"""

from __future__ import annotations

OWNERS: tuple[str, ...] = tuple(
    name.strip()
    for name in """
Nia Campbell, Deniz Aydin, Ahmed Saleh, Oscar Blom, Marcus Redfern, Anika Sharma, Milan Jovanovic,
Pedro Almeida, Anton Dvorak, Mateo Vargas, Meilin Chen, Anahi Morales, Rangi Walker, Adriana Silva,
Samuel Osei, Valentina Cruz, Felipe Rojas, Naomi Brookfield, Isabel Ortega, Bridget Walsh,
Martin Svoboda, Minjun Park, Nomvula Cele, Carlos Mendoza, Faisal Anwar, Beatriz Rocha, Tunde Bakare,
Chloe Martineau, Sekou Keita, Leon Fofana, Priya Nair, Noah Fischbach, Ravi Menon, Nadia Benali,
Maite Reyes, Dmitri Orlov, Yuki Nakamura, Thibault Laurent, Sara Holm, Pilar Vega, Eliana Cohen,
Sung-ho Lee, Cormac Doyle, Ulrich Vogel, Astrid Nilsson, Ingrid Solberg, Haruka Kondo, Mikael Berg,
Jack Harrington, Vikram Singh, Pema Dorji, Rohan Gupta, Walid Jaber, Rina Das, Lucia Romano,
Alice Dupont, Rui Barros, Cora Sinclair, Kenji Tanaka, Diego Fuentes, Katya Volkova, Shufen Huang,
Tui Parata, Aisha Mirza, Samir Khalil, Kalani Akana, Jun Watanabe, Olivia Benning, Teresa Pinto,
Andre Baptiste, Baraka Mbeki, Anh Dao, Elif Sahin, Leila Rahimi, Aleksander Wilk, Joao Ferreira,
Grace Mwangi, Hoa Tran, Linh Nguyen, Simone Conti, Meera Joshi, Zainab Abbas, Efua Asante, Rahul Verma,
Nuka Petersen, Itzel Chavez, Jiwoo Kim, Xiaoming Zhang, Kwame Boateng, Adama Toure, Jasleen Patel,
Yara Mansour, Nina Haugen, Ivana Maric, Xinyue Li, Farah Naz, Anong Chai, Helena Kovac, Luis Navarro,
Konstantin Winter, Hana Suzuki, Thuy Pham, Edith Quist, Juma Hassan, Laura Bianchi, Ruiyang Liu,
Omar Nasser, Owen Griffiths, Esther Kamau, Lucas Moreau, Divya Rao, Sofia Ricci, Dina Mahmoud,
Eva Horvath, Salma Hosni, Shirin Azadi, Nayra Mamani, Selma Kaya, Emre Demir, Thandi Zulu,
Camila Torres, Lina Sabbagh, Miriam Katz, Hannah Weidmann, Bruno Lopes, Erik Johansson, Ewan Fraser,
Chidi Obi, Julia Hoffmann, Keala Kahale, Takeshi Ito, Freya Larsen, Arjun Reddy, Greta Schulz,
Budi Santoso, Somchai Wong, Irina Popova, Ibrahim Diallo, Henry Whitfield, Viktor Petrov,
Paloma Herrera, Rafael Duarte, Amina Yusuf, Hiroshi Sato, Concepcion Costa, Maayan Levi, Kofi Mensah,
Tomas Novak, Rosa Jimenez, Amara Okoro, Jonas Lindberg, Awa Diop, Asha Pillai, Ayumi Mori, Kavya Bose,
Elena Popescu, Emeka Eze, Saoirse Gallagher, Sana Malik, Siti Rahman
""".replace("\n", " ").split(",")
)
